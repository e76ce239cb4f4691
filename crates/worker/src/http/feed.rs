//! The feed: rows of all kinds, newest first, paged by cursor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::list_params::{parse_kinds, parse_types};
use super::lookup;
use super::paging::page;
use super::problem::Problem;
use super::rows::RowView;
use super::stream_event::event_id;
use super::view_builder::ViewBuilder;
use claude_mem_core::clock::Millis;
use claude_mem_store::{FeedCursor, FeedScope, RowKind};

/// Filters and page of the feed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Which")]
pub(super) struct FeedParams {
    /// `nextCursor` of the previous page.
    before: Option<String>,
    limit: Option<u32>,
    /// Project id or name.
    project: Option<String>,
    /// Observation types, separated by commas.
    r#type: Option<String>,
    /// observation, summary, prompt or message, separated by commas.
    kind: Option<String>,
}

/// One page of the feed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Feed")]
pub(super) struct FeedPage {
    items: Vec<RowView>,
    next_cursor: Option<String>,
    /// Send it as Last-Event-ID to `/stream` to receive everything after this response.
    seen: String,
}

/// Handles `GET /api/feed`.
pub(super) fn feed(api: &ApiState, _: &PathParams, which: FeedParams) -> Result<FeedPage, Problem> {
    let limit = page(0, which.limit).limit;
    let cursor_text = which.before.as_deref().filter(|text| !text.is_empty());
    let before = cursor_text.map(parse_cursor).transpose()?;
    api.view(|reads| {
        let scope = FeedScope {
            project: lookup::resolve_project(reads, which.project.as_deref())?,
            kinds: parse_kinds(which.kind.as_deref())?,
            types: parse_types(which.r#type.as_deref()),
            before,
        };
        let mut places = reads.feed(&scope, limit)?;
        let has_more = places.len() > limit as usize;
        places.truncate(limit as usize);
        let next = places.last().copied().filter(|_| has_more).map(format_cursor);
        let mut views = ViewBuilder::new(reads);
        let mut items = Vec::with_capacity(places.len());
        for place in places {
            items.extend(views.row(place.kind, place.row_id)?);
        }
        Ok(FeedPage { items, next_cursor: next, seen: event_id(reads.change_cursor()?) })
    })
}

/// A cursor such as `1763200000000-observation-12`.
pub(super) fn format_cursor(place: FeedCursor) -> String {
    format!("{}-{}-{}", place.at.0, place.kind.as_str(), place.row_id)
}

pub(super) fn parse_cursor(text: &str) -> Result<FeedCursor, Problem> {
    let mut parts = text.rsplitn(3, '-');
    let mut next = || parts.next();
    let (row_id, kind, at) = (next(), next(), next());
    let read = || {
        Some(FeedCursor {
            row_id: row_id?.parse().ok()?,
            kind: RowKind::from_name(kind?)?,
            at: Millis(at?.parse().ok()?),
        })
    };
    read().ok_or_else(|| {
        let hint = "Pass nextCursor of the previous page unchanged.";
        Problem::bad_request(format!("{text:?} is not a feed cursor"), hint)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_round_trips() {
        for at in [0, 1_763_200_000_000, -5] {
            let there = FeedCursor { at: Millis(at), kind: RowKind::Summary, row_id: 7 };
            assert_eq!(parse_cursor(&format_cursor(there)).ok(), Some(there));
        }
        for wrong in ["", "12", "1-2-3", "x-prompt-1", "1-prompt-", "1-prompt-9999999999999999999"] {
            assert!(parse_cursor(wrong).is_err(), "{wrong:?}");
        }
    }
}
