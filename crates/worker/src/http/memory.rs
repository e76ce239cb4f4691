//! Routes to save, forget, restore and judge memories by hand.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::lookup;
use super::lookup::ProjectSelector;
use super::problem::Problem;
use super::route::NoParams;
use super::rows::ObservationView;
use super::view_builder::ViewBuilder;
use claude_mem_capture::saved_text::SavedTextMask;
use claude_mem_core::ids::ObservationId;
use claude_mem_recall::manual_edits;
use claude_mem_recall::manual_edits::{FeedbackSource, Judgement, ManualNote, SaveError};
use claude_mem_store::{RowId, RowKind};

/// The action that was performed.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Done")]
pub(super) struct MemoryActionResponse {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) forgotten: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) restored: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recorded: Option<bool>,
}

/// A memory to save.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Save")]
pub(super) struct SaveRequest {
    text: String,
    title: Option<String>,
    /// Project id or name; required unless `global` is set or there is only one project.
    project: Option<ProjectSelector>,
    r#type: Option<String>,
    /// Applies to every project.
    #[serde(default)]
    global: bool,
}

/// Handles `POST /api/memory/save`.
pub(super) fn save(api: &ApiState, _: &PathParams, save: SaveRequest) -> Result<ObservationView, Problem> {
    let named = save.project.as_ref().map(ProjectSelector::text);
    let project = api.view(|reads| match &named {
        Some(_) => lookup::resolve_project(reads, named.as_deref()),
        None => Ok(match &reads.projects()?[..] {
            [only] => Some(only.id),
            _ => None,
        }),
    })?;
    if project.is_none() && !save.global {
        let hint = "Pass project, or set global.";
        return Err(Problem::unprocessable("no project was given", hint));
    }
    let vocabulary = api.vocabulary();
    let words = SavedTextMask::load(api.dir()).map_err(|e| {
        let what = format!("cannot read which words are private: {e}");
        Problem::unprocessable(what, "Run `claude-mem doctor`.")
    })?;
    let (text, title) = (words.mask(&save.text), save.title.as_deref().map(|title| words.mask(title)));
    let note = ManualNote {
        text: &text,
        title: title.as_deref(),
        kind: save.r#type.as_deref().filter(|name| !name.is_empty()),
        project,
        global: save.global,
        by_agent: false,
        session: None,
        vocabulary: Some(&vocabulary),
    };
    let now = api.now();
    // A rejected text is a response; only a store error fails the write.
    let saved = api.change(|store| match manual_edits::save(store, &note, now) {
        Err(SaveError::Store(error)) => Err(error),
        told => Ok(told),
    })?;
    let id = saved.map_err(|e| Problem::unprocessable(e.to_string(), "Send text that may be stored."))?;
    load_view(api, id)
}

/// The view of one observation.
pub(super) fn load_view(api: &ApiState, id: ObservationId) -> Result<ObservationView, Problem> {
    let asked = RowId::new(RowKind::Observation, id.0);
    api.view(|reads| {
        let row = lookup::current_row(reads, asked)?;
        let mut view = ViewBuilder::new(reads).observation(reads.observation(ObservationId(row.row_id))?)?;
        view.formerly = (row != asked).then(|| asked.to_string());
        Ok(view)
    })
}

/// Deletes a row. It can be restored for a while.
pub(super) fn forget(
    api: &ApiState,
    kind: RowKind,
    params: &PathParams,
) -> Result<MemoryActionResponse, Problem> {
    let (id, now) = (params.id()?, api.now());
    let vectors = api.dir().vectors_db();
    let row = api.view(|reads| lookup::current_row(reads, RowId::new(kind, id)))?;
    let owed = api.change(|store| manual_edits::forget(store, &vectors, &[row], now))?;
    if let Some(error) = owed {
        api.worker.warn("vectors of a forgotten row are not deleted yet", &error);
    }
    Ok(MemoryActionResponse { forgotten: Some(true), ..MemoryActionResponse::default() })
}

/// Handles `POST /api/memory/{kind}/{id}/restore`.
pub(super) fn restore(
    api: &ApiState,
    params: &PathParams,
    _: NoParams,
) -> Result<MemoryActionResponse, Problem> {
    let id = params.id()?;
    let name = params.text("kind");
    let kind = RowKind::from_name(name).ok_or_else(|| Problem::not_found(format!("{name:?}")))?;
    let row = api.view(|reads| lookup::current_row(reads, RowId::new(kind, id)))?;
    let is_there = api.view(|reads| Ok(reads.project_and_time_of(row)?.is_some()))?;
    if is_there {
        // The row was never forgotten, or its id is in use again.
        let hint = "There is nothing to restore.";
        return Err(Problem::new(StatusCode::CONFLICT, "this row exists", hint));
    }
    if !api.change(|store| manual_edits::undo_forget(store, row))? {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "this row cannot be restored",
            "It was never forgotten, or too long ago.",
        ));
    }
    Ok(MemoryActionResponse { restored: Some(true), ..MemoryActionResponse::default() })
}

/// Feedback on one row.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Judged")]
pub(super) struct FeedbackRequest {
    /// `#12`, `S3`, `P7`, `M9` or `A4`.
    handle: String,
    signal: Judgement,
    /// Takes back the last feedback of this kind that was given in the viewer.
    #[serde(default)]
    undo: bool,
}

/// Handles `POST /api/feedback`.
pub(super) fn feedback(
    api: &ApiState,
    _: &PathParams,
    judged: FeedbackRequest,
) -> Result<MemoryActionResponse, Problem> {
    let handle: RowId = judged
        .handle
        .parse()
        .map_err(|e| Problem::unprocessable(format!("{e}"), "Search results show the ids."))?;
    let from = FeedbackSource { place: "viewer", ..FeedbackSource::default() };
    let now = api.now();
    if judged.signal == Judgement::Wrong && handle.kind != RowKind::Observation {
        let what = format!("a {} cannot be marked as wrong", handle.kind.as_str());
        return Err(Problem::unprocessable(what, "Forget it instead."));
    }
    let handle = api.view(|reads| lookup::current_row(reads, handle))?;
    if judged.undo {
        let recorded = api.change(|store| manual_edits::unmark(store, handle, judged.signal, &from))?;
        return Ok(MemoryActionResponse { recorded: Some(recorded), ..MemoryActionResponse::default() });
    }
    api.change(|store| manual_edits::mark(store, handle, judged.signal, &from, now))?;
    Ok(MemoryActionResponse { recorded: Some(true), ..MemoryActionResponse::default() })
}
