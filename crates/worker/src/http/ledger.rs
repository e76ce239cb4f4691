//! Model calls with their cost, and the ledger of which memories were shown where.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::lookup;
use super::paging::{ListPage, map_page, page};
use super::problem::Problem;
use super::rows::handle;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::SessionId;
use claude_mem_core::limits::TITLE_CHARS_MAX;
use claude_mem_recall::quote;
use claude_mem_store::{FeedbackQuery, FeedbackRow, FeedbackSignal, RowId, RowKind, StoreReader};

/// One ledger entry: a row was shown, used or judged.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Entry")]
pub(super) struct LedgerEntryView {
    kind: RowKind,
    id: i64,
    handle: String,
    title: String,
    session: String,
    signal: FeedbackSignal,
    place: String,
    score: Option<f64>,
    rank: Option<u32>,
    tokens: u32,
    reason: String,
    at: Millis,
}

/// Views of ledger rows, with the title of each memory.
pub(super) fn ledger_entries(
    reads: &StoreReader<'_>,
    rows: Vec<FeedbackRow>,
) -> Result<Vec<LedgerEntryView>, Problem> {
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let document = reads.document(RowId::new(row.kind, row.row_id))?;
        let title = document.map_or_else(String::new, |document| {
            let has_title = !document.title.is_empty();
            let text = if has_title { &document.title } else { &document.body };
            quote::line(text, TITLE_CHARS_MAX)
        });
        found.push(LedgerEntryView {
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

/// Selects the ledger of one row or one session.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LedgerParams {
    offset: u32,
    limit: Option<u32>,
    /// `#12`, `S3`, `P7`, `M9` or `A4`.
    row: Option<String>,
    /// Our session id, or the client's.
    session: Option<String>,
}

/// Handles `GET /api/ledger`.
pub(super) fn ledger(
    api: &ApiState,
    _: &PathParams,
    whose: LedgerParams,
) -> Result<ListPage<LedgerEntryView>, Problem> {
    let page = page(whose.offset, whose.limit);
    api.view(|reads| {
        let called: String;
        let which = match (&whose.row, &whose.session) {
            (Some(row), None) => {
                let row: RowId = row
                    .parse()
                    .map_err(|e| Problem::bad_request(format!("{e}"), "Search results show the ids."))?;
                FeedbackQuery::ForRow(lookup::current_row(reads, row)?)
            }
            (None, Some(session)) => {
                // A session can have ledger entries before it has a row.
                let is_number = session.parse::<i64>().is_ok();
                called = match lookup::find_session(reads, session) {
                    Ok(found) => found.client_session.0,
                    Err(problem) if is_number || problem.status != StatusCode::NOT_FOUND => {
                        return Err(problem);
                    }
                    Err(_) => session.strip_prefix("client:").unwrap_or(session).to_owned(),
                };
                FeedbackQuery::ForSession(&called)
            }
            _ => {
                let hint = "Pass ?row=%2312 or ?session=….";
                return Err(Problem::bad_request("exactly one of row and session is required", hint));
            }
        };
        let rows = reads.feedback_page(which, page)?;
        Ok(ListPage {
            has_more: rows.has_more,
            items: ledger_entries(reads, rows.items)?,
            offset: page.offset,
            limit: page.limit,
        })
    })
}

/// Page of the list of model calls.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SpendListParams {
    offset: u32,
    limit: Option<u32>,
}

/// One model call.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Call")]
pub(super) struct ModelCallView {
    id: i64,
    day: String,
    session: Option<SessionId>,
    provider: String,
    model: String,
    purpose: String,
    input_tokens: u64,
    output_tokens: u64,
    /// The provider reported no usage; these are our estimates.
    estimated: bool,
    outcome: String,
    created_at: Millis,
}

/// Handles `GET /api/spend`.
pub(super) fn spend(
    api: &ApiState,
    _: &PathParams,
    pages: SpendListParams,
) -> Result<ListPage<ModelCallView>, Problem> {
    let page = page(pages.offset, pages.limit);
    api.view(|reads| {
        map_page(page, reads.spend_rows(page)?, |row| {
            Ok(ModelCallView {
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
