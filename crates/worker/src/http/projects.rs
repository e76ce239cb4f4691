//! The list of projects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::paging::{ListPage, page, paginate};
use super::problem::Problem;
use super::route::NoParams;
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

/// Files listed of one project.
const FILES_MAX: u32 = 200;

/// The files that memories of a project refer to, most memories first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProjectFilesView {
    items: Vec<ProjectFileView>,
}

/// One file of a project.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ProjectFileView {
    path: String,
    memories: u64,
    /// How many of the memories edited it.
    edited: u64,
    last_at: Millis,
}

/// Handles `GET /api/projects/{id}/files`.
pub(super) fn files(api: &ApiState, params: &PathParams, _: NoParams) -> Result<ProjectFilesView, Problem> {
    let id = ProjectId(params.id()?);
    api.view(|reads| {
        let items = reads.files_of_project(reads.project(id)?.id, FILES_MAX)?.into_iter();
        let items = items.map(|file| ProjectFileView {
            path: file.path,
            memories: file.memories,
            edited: file.edited,
            last_at: file.last_at,
        });
        Ok(ProjectFilesView { items: items.collect() })
    })
}
