//! Routes to list, read, edit and forget observations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::list_params::ObservationListParams;
use super::lookup;
use super::memory::{MemoryActionResponse, forget as forget_row, load_view};
use super::paging::{ListPage, map_page};
use super::problem::Problem;
use super::route::NoParams;
use super::rows::ObservationView;
use super::view_builder::ViewBuilder;
use claude_mem_core::ids::ObservationId;
use claude_mem_recall::manual_edits;
use claude_mem_recall::manual_edits::SaveError;
use claude_mem_store::{MemoryLevel, ObservationEdit, RowId, RowKind};

/// Maximum ids in one batch request.
pub(crate) const HTTP_BATCH_MAX: usize = 200;

/// Handles `GET /api/observations`.
pub(super) fn list(
    api: &ApiState,
    _: &PathParams,
    which: ObservationListParams,
) -> Result<ListPage<ObservationView>, Problem> {
    api.view(|reads| {
        let (page, mut views) = (which.page(), ViewBuilder::new(reads));
        let rows = reads.observations(&which.filter(api, reads)?, page)?;
        map_page(page, rows, |row| views.observation(row))
    })
}

/// Handles `GET /api/observations/{id}`.
pub(super) fn get_observation(
    api: &ApiState,
    params: &PathParams,
    _: NoParams,
) -> Result<ObservationView, Problem> {
    load_view(api, ObservationId(params.id()?))
}

/// Ids of observations.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Ids")]
pub(super) struct ObservationBatchRequest {
    ids: Vec<ObservationId>,
}

/// The requested observations.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Batch")]
pub(super) struct ObservationBatchResponse {
    /// The observations that exist, in the requested order.
    items: Vec<ObservationView>,
}

/// Handles `POST /api/observations/batch`.
pub(super) fn batch(
    api: &ApiState,
    _: &PathParams,
    asked: ObservationBatchRequest,
) -> Result<ObservationBatchResponse, Problem> {
    if asked.ids.len() > HTTP_BATCH_MAX {
        let hint = format!("Send at most {HTTP_BATCH_MAX} at a time.");
        return Err(Problem::unprocessable("too many ids", hint));
    }
    api.view(|reads| {
        let mut views = ViewBuilder::new(reads);
        let mut items: Vec<ObservationView> = Vec::new();
        for id in asked.ids {
            let handle = RowId::new(RowKind::Observation, id.0);
            let Some(now) = reads.resolve_row(handle)?.current(handle) else {
                continue;
            };
            for row in reads.observations_by_id(&[ObservationId(now.row_id)])? {
                let mut view = views.observation(row)?;
                view.formerly = (now != handle).then(|| handle.to_string());
                items.push(view);
            }
        }
        Ok(ObservationBatchResponse { items })
    })
}

/// Handles `PATCH /api/observations/{id}`.
pub(super) fn edit(
    api: &ApiState,
    params: &PathParams,
    edit: ObservationEdit,
) -> Result<ObservationView, Problem> {
    let asked = RowId::new(RowKind::Observation, params.id()?);
    let id = ObservationId(api.view(|reads| lookup::current_row(reads, asked))?.row_id);
    let now = api.now();
    let own = api.view(|reads| Ok(reads.observation(id)?))?;
    // A memory without a project can only be at user level.
    if edit.level.is_some_and(|level| level != MemoryLevel::User) && own.project.is_none() {
        let hint = "It was saved for every project.";
        return Err(Problem::unprocessable("this memory belongs to no project", hint));
    }
    let words = api.vocabulary();
    let corrected = api.change(|store| match manual_edits::correct(store, id, &edit, &words, now) {
        Err(SaveError::Store(error)) => Err(error),
        told => Ok(told),
    })?;
    corrected.map_err(|e| Problem::unprocessable(e.to_string(), "Nothing was changed."))?;
    load_view(api, ObservationId(asked.row_id))
}

/// Handles `DELETE /api/observations/{id}`.
pub(super) fn forget(
    api: &ApiState,
    params: &PathParams,
    _: NoParams,
) -> Result<MemoryActionResponse, Problem> {
    forget_row(api, RowKind::Observation, params)
}
