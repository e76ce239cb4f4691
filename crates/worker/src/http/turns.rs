//! The feed as a list of turns: a prompt with the memories, the summary and the replies made from it.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::feed::{format_cursor, parse_cursor};
use super::handler_request::PathParams;
use super::lookup;
use super::paging::page;
use super::problem::Problem;
use super::route::NoParams;
use super::rows::{RowView, handle};
use super::stream_event::event_id;
use super::view_builder::ViewBuilder;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::SessionId;
use claude_mem_store::{FeedCursor, FeedScope, StoreReader};

/// Maximum rows of each kind in one turn.
const TURN_ROWS_MAX: u32 = 60;
/// Rows of the feed that are read at a time.
const FEED_ROWS: u32 = 60;
/// Characters of a running prompt that are shown.
const RUNNING_CHARS_MAX: usize = 400;

/// Filter and page of the list of turns.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TurnListParams {
    /// `nextCursor` of the previous page.
    before: Option<String>,
    limit: Option<u32>,
    /// Project id or name.
    project: Option<String>,
}

/// One page of turns, the last active one first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnPage {
    items: Vec<TurnView>,
    next_cursor: Option<String>,
    /// Send it as Last-Event-ID to `/stream` to receive everything after this response.
    seen: String,
}

/// A turn, or a row that belongs to none.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnView {
    /// `T3-2` is turn 2 of session 3; a row without a turn has its own handle.
    handle: String,
    session: Option<SessionId>,
    number: u32,
    /// The time of its newest row.
    created_at: Millis,
    /// Oldest first.
    rows: Vec<RowView>,
}

/// Handles `GET /api/turns`.
pub(super) fn list(api: &ApiState, _: &PathParams, which: TurnListParams) -> Result<TurnPage, Problem> {
    let limit = page(0, which.limit).limit as usize;
    let cursor_text = which.before.as_deref().filter(|text| !text.is_empty());
    let before = cursor_text.map(parse_cursor).transpose()?;
    api.view(|reads| {
        let project = lookup::resolve_project(reads, which.project.as_deref())?;
        let mut turns = TurnBuilder::new(reads);
        let (mut items, mut next) = (Vec::new(), None);
        let mut scope = FeedScope { project, before, ..FeedScope::default() };
        'pages: loop {
            let places = reads.feed(&scope, FEED_ROWS)?;
            for place in places.iter().take(FEED_ROWS as usize) {
                if items.len() == limit {
                    next = scope.before.map(format_cursor);
                    break 'pages;
                }
                items.extend(turns.turn_at(*place, before)?);
                scope.before = Some(*place);
            }
            if places.len() <= FEED_ROWS as usize {
                break;
            }
        }
        Ok(TurnPage { items, next_cursor: next, seen: event_id(reads.change_cursor()?) })
    })
}

/// Handles `GET /api/turns/{session}/{number}`.
pub(super) fn get_turn(api: &ApiState, params: &PathParams, _: NoParams) -> Result<TurnView, Problem> {
    let missing = || Problem::not_found(format!("turn {}", params.text("number")));
    let number = params.text("number").parse().map_err(|_| missing())?;
    api.view(|reads| {
        let session = lookup::find_session(reads, params.text("session"))?.id;
        let rows = reads.turn_rows(session, number, TURN_ROWS_MAX)?;
        TurnBuilder::new(reads).turn(session, number, &rows)?.ok_or_else(missing)
    })
}

/// Turns that agents are at work on.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunningTurnList {
    items: Vec<RunningTurnView>,
}

/// A turn that is not finished: its events wait in the queue.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunningTurnView {
    /// The client's session id.
    session: String,
    project: Option<String>,
    /// The beginning of the prompt; empty if it is private.
    prompt: String,
    tool_calls: u64,
    started_at: Millis,
}

/// Handles `GET /api/running`.
pub(super) fn running(api: &ApiState, _: &PathParams, _: NoParams) -> Result<RunningTurnList, Problem> {
    api.view(|reads| {
        let items = reads.running_turns()?.into_iter().map(|turn| RunningTurnView {
            session: turn.session,
            project: turn.project,
            prompt: turn.prompt.chars().take(RUNNING_CHARS_MAX).collect(),
            tool_calls: turn.tool_calls,
            started_at: turn.started_at,
        });
        Ok(RunningTurnList { items: items.collect() })
    })
}

/// Builds each turn once.
struct TurnBuilder<'r> {
    reads: &'r StoreReader<'r>,
    views: ViewBuilder<'r>,
    done: HashSet<(SessionId, u32)>,
}

impl<'r> TurnBuilder<'r> {
    fn new(reads: &'r StoreReader<'r>) -> Self {
        Self { reads, views: ViewBuilder::new(reads), done: HashSet::new() }
    }

    /// The turn of the row at this place; `None` if it stands on this page or an earlier one already.
    fn turn_at(
        &mut self,
        place: FeedCursor,
        before: Option<FeedCursor>,
    ) -> Result<Option<TurnView>, Problem> {
        let row = claude_mem_store::RowId::new(place.kind, place.row_id);
        let Some((session, number)) = self.reads.turn_of(row)? else {
            let view = self.views.row(place.kind, place.row_id)?;
            return Ok(view.map(|view| TurnView {
                handle: handle(place.kind, place.row_id),
                session: view.session(),
                number: 0,
                created_at: place.at,
                rows: vec![view],
            }));
        };
        if !self.done.insert((session, number)) {
            return Ok(None);
        }
        let rows = self.reads.turn_rows(session, number, TURN_ROWS_MAX)?;
        if before.is_some_and(|before| rows.first().is_some_and(|newest| *newest >= before)) {
            return Ok(None);
        }
        self.turn(session, number, &rows)
    }

    fn turn(
        &mut self,
        session: SessionId,
        number: u32,
        places: &[FeedCursor],
    ) -> Result<Option<TurnView>, Problem> {
        let Some(newest) = places.first() else { return Ok(None) };
        let mut rows = Vec::with_capacity(places.len());
        for place in places.iter().rev() {
            rows.extend(self.views.row(place.kind, place.row_id)?);
        }
        Ok(Some(TurnView {
            handle: format!("T{}-{number}", session.0),
            session: Some(session),
            number,
            created_at: newest.at,
            rows,
        }))
    }
}
