//! Changes of several memories at once, replacements, and the trash.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::lookup;
use super::memory::load_view;
use super::observations::HTTP_BATCH_MAX;
use super::paging::{ListPage, map_page, page};
use super::problem::Problem;
use super::rows::{ObservationView, ProjectRef, handle};
use super::view_builder::ViewBuilder;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ObservationId;
use claude_mem_core::memory::ObservationType;
use claude_mem_recall::manual_edits;
use claude_mem_recall::manual_edits::SaveError;
use claude_mem_store::{ObservationEdit, RowId, RowKind};

/// A change of several rows.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BulkRequest {
    /// `#12`, `S3`, `P7`, `M9` or `A4`.
    handles: Vec<String>,
    action: BulkAction,
    /// The new type, for `retype`.
    r#type: Option<String>,
}

/// The change to apply to each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum BulkAction {
    Pin,
    Unpin,
    Wrong,
    Correct,
    Retype,
    Forget,
    Restore,
}

/// The result of a bulk change.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BulkResponse {
    done: Vec<String>,
    /// Rows that are gone, or to which the change does not apply.
    skipped: Vec<String>,
}

/// Handles `POST /api/memory/bulk`.
pub(super) fn bulk(api: &ApiState, _: &PathParams, asked: BulkRequest) -> Result<BulkResponse, Problem> {
    if asked.handles.len() > HTTP_BATCH_MAX {
        let hint = format!("Send at most {HTTP_BATCH_MAX} at a time.");
        return Err(Problem::unprocessable("too many rows", hint));
    }
    let (mut done, mut skipped) = (Vec::new(), Vec::new());
    for text in asked.handles {
        let row: RowId = text
            .parse()
            .map_err(|e| Problem::unprocessable(format!("{e}"), "Search results show the ids."))?;
        match apply(api, row, asked.action, asked.r#type.as_deref()) {
            Ok(true) => done.push(text),
            Ok(false) => skipped.push(text),
            Err(problem) if problem.status == StatusCode::NOT_FOUND => skipped.push(text),
            Err(problem) => return Err(problem),
        }
    }
    Ok(BulkResponse { done, skipped })
}

/// Applies the action to one row. False if it does not apply.
fn apply(api: &ApiState, row: RowId, action: BulkAction, kind: Option<&str>) -> Result<bool, Problem> {
    let row = api.view(|reads| lookup::current_row(reads, row))?;
    let now = api.now();
    let flag = |pinned, wrong| ObservationEdit { pinned, wrong, ..ObservationEdit::default() };
    let edit = match action {
        BulkAction::Forget => {
            let vectors = api.dir().vectors_db();
            api.change(|store| manual_edits::forget(store, &vectors, &[row], now))?;
            return Ok(true);
        }
        BulkAction::Restore => return api.change(|store| manual_edits::undo_forget(store, row)),
        BulkAction::Pin => flag(Some(true), None),
        BulkAction::Unpin => flag(Some(false), None),
        BulkAction::Wrong => flag(None, Some(true)),
        BulkAction::Correct => flag(None, Some(false)),
        BulkAction::Retype => {
            let kind = kind.ok_or_else(|| Problem::unprocessable("no type was given", "Pass type."))?;
            ObservationEdit { kind: Some(ObservationType::named(kind)), ..ObservationEdit::default() }
        }
    };
    if row.kind != RowKind::Observation {
        return Ok(false);
    }
    let words = api.vocabulary();
    let changed = api.change(|store| {
        match manual_edits::correct(store, ObservationId(row.row_id), &edit, &words, now) {
            Err(SaveError::Store(error)) => Err(error),
            told => Ok(told),
        }
    })?;
    changed.map_err(|e| Problem::unprocessable(e.to_string(), "Nothing was changed."))?;
    Ok(true)
}

/// The memory that takes the place of another.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplaceRequest {
    /// `#12`; null keeps both.
    by: Option<String>,
}

/// Handles `POST /api/observations/{id}/replace`.
pub(super) fn replace(
    api: &ApiState,
    params: &PathParams,
    asked: ReplaceRequest,
) -> Result<ObservationView, Problem> {
    let older =
        api.view(|reads| lookup::current_row(reads, RowId::new(RowKind::Observation, params.id()?)))?;
    let Some(by) = asked.by else {
        api.change(|store| store.write(|tx| tx.keep_replaced_observation(ObservationId(older.row_id))))?;
        return load_view(api, ObservationId(older.row_id));
    };
    let newer: RowId =
        by.parse().map_err(|e| Problem::unprocessable(format!("{e}"), "Search results show the ids."))?;
    let newer = api.view(|reads| lookup::current_row(reads, newer))?;
    if newer.kind != RowKind::Observation || newer == older {
        let hint = "Pass the id of another memory, such as #12.";
        return Err(Problem::unprocessable(format!("{by:?} cannot replace it"), hint));
    }
    let (older, newer) = (ObservationId(older.row_id), ObservationId(newer.row_id));
    api.change(|store| {
        store.write(|tx| {
            // The newer one must not be replaced by the older one at the same time.
            let is_circle = tx.observation(newer)?.replaced_by == Some(older);
            if is_circle {
                tx.keep_replaced_observation(newer)?;
            }
            tx.replace_observation(older, newer)
        })
    })?;
    load_view(api, older)
}

/// Page of the trash.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TrashParams {
    offset: u32,
    limit: Option<u32>,
}

/// A forgotten row.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TrashItem {
    handle: String,
    kind: RowKind,
    id: i64,
    title: String,
    r#type: Option<String>,
    project: Option<ProjectRef>,
    forgotten_at: Millis,
}

/// Handles `GET /api/trash`.
pub(super) fn trash(
    api: &ApiState,
    _: &PathParams,
    asked: TrashParams,
) -> Result<ListPage<TrashItem>, Problem> {
    let page = page(asked.offset, asked.limit);
    api.view(|reads| {
        let mut views = ViewBuilder::new(reads);
        map_page(page, reads.forgotten_rows(page)?, |row| {
            Ok(TrashItem {
                handle: handle(row.row.kind, row.row.row_id),
                kind: row.row.kind,
                id: row.row.row_id,
                title: row.title,
                r#type: row.observation_type,
                project: views.project(row.project)?,
                forgotten_at: row.forgotten_at,
            })
        })
    })
}
