//! The list of projects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::paging::{ListPage, page, paginate};
use super::problem::Problem;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ProjectId;
use claude_mem_core::limits::HTTP_ROWS_MAX;

/// Page of the list of projects.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ProjectListParams {
    offset: u32,
    /// The largest limit if omitted: a project menu wants to show all of them.
    limit: Option<u32>,
}

/// A project with its counts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProjectView {
    id: ProjectId,
    name: String,
    root: String,
    last_active_at: Millis,
    observations: u64,
    sessions: u64,
}

/// Handles `GET /api/projects`.
pub(super) fn list(
    api: &ApiState,
    _: &PathParams,
    which: ProjectListParams,
) -> Result<ListPage<ProjectView>, Problem> {
    let page = page(which.offset, which.limit.or(Some(HTTP_ROWS_MAX)));
    let counts = api.project_counts()?;
    api.view(|reads| {
        let items = reads.projects()?.into_iter().map(|project| {
            let counted = counts.get(&project.id).copied().unwrap_or_default();
            ProjectView {
                id: project.id,
                name: project.name,
                root: project.root,
                last_active_at: project.last_active,
                observations: counted.observations,
                sessions: counted.sessions,
            }
        });
        Ok(paginate(page, items))
    })
}
