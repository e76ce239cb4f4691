//! What memory cost and what it gave: calls of models, and the ledger of what was shown.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::Api;
use super::call::Params;
use super::lists::{listed, page};
use super::problem::Problem;
use super::rows::{Listed, handle};
use super::sessions;
use crate::clock::Millis;
use crate::context::quote;
use crate::ids::SessionId;
use crate::limits::TITLE_CHARS_MAX;
use crate::search::Handle;
use crate::store::{FeedbackRow, Reads, RowKind, Shown, Signal};

/// One thing that happened to a row.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Entry {
    kind: RowKind,
    id: i64,
    handle: String,
    title: String,
    session: String,
    signal: Signal,
    place: String,
    score: Option<f64>,
    rank: Option<u32>,
    tokens: u32,
    reason: String,
    at: Millis,
}

pub(super) fn entries(reads: &Reads<'_>, rows: Vec<FeedbackRow>) -> Result<Vec<Entry>, Problem> {
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let document = reads.document(row.kind, row.row_id)?;
        let title = document.map_or_else(String::new, |document| {
            let has_title = !document.title.is_empty();
            let text = if has_title {
                &document.title
            } else {
                &document.body
            };
            quote::line(text, TITLE_CHARS_MAX)
        });
        found.push(Entry {
            kind: row.kind,
            id: row.row_id,
            handle: handle(row.kind, row.row_id),
            title,
            session: row.session,
            signal: row.signal,
            place: row.place,
            score: row.score,
            rank: row.rank,
            tokens: row.tokens,
            reason: row.reason,
            at: row.at,
        });
    }
    Ok(found)
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Whose {
    offset: u32,
    limit: Option<u32>,
    /// `#12`, `S3`, `P7` or `M9`.
    row: Option<String>,
    /// Our number of a session, or its client's id.
    session: Option<String>,
}

pub(super) fn ledger(api: &Api, _: &Params, whose: Whose) -> Result<Listed<Entry>, Problem> {
    let page = page(whose.offset, whose.limit);
    api.view(|reads| {
        let called: String;
        let which = match (&whose.row, &whose.session) {
            (Some(row), None) => {
                let row: Handle = row
                    .parse()
                    .map_err(|e| Problem::bad(format!("{e}"), "Search shows the ids."))?;
                Shown::Of(row.kind, row.row_id)
            }
            (None, Some(session)) => {
                // A session may have been told something before it has a row.
                let is_number = session.parse::<i64>().is_ok();
                called = match sessions::find(reads, session) {
                    Ok(found) => found.client_session.0,
                    Err(problem) if is_number || problem.status != StatusCode::NOT_FOUND => {
                        return Err(problem);
                    }
                    Err(_) => session
                        .strip_prefix("client:")
                        .unwrap_or(session)
                        .to_owned(),
                };
                Shown::To(&called)
            }
            _ => {
                let hint = "Say ?row=%2312 or ?session=….";
                return Err(Problem::bad("of which row, or which session?", hint));
            }
        };
        let rows = reads.shown(which, page)?;
        Ok(Listed {
            has_more: rows.has_more,
            items: entries(reads, rows.items)?,
            offset: page.offset,
            limit: page.limit,
        })
    })
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Pages {
    offset: u32,
    limit: Option<u32>,
}

/// One call of a model.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Call {
    id: i64,
    day: String,
    session: Option<SessionId>,
    provider: String,
    model: String,
    purpose: String,
    input_tokens: u64,
    output_tokens: u64,
    /// The provider gave no figures; these are ours.
    estimated: bool,
    outcome: String,
    created_at: Millis,
}

pub(super) fn spend(api: &Api, _: &Params, pages: Pages) -> Result<Listed<Call>, Problem> {
    let page = page(pages.offset, pages.limit);
    api.view(|reads| {
        listed(page, reads.spend_rows(page)?, |row| {
            Ok(Call {
                id: row.id,
                day: row.day,
                session: row.session,
                provider: row.provider,
                model: row.model,
                purpose: row.purpose,
                input_tokens: row.input_tokens,
                output_tokens: row.output_tokens,
                estimated: row.estimated,
                outcome: row.outcome,
                created_at: row.created_at,
            })
        })
    })
}
