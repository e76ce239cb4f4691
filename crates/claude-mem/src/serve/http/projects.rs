//! Projects, and finding one by what people call it.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::api::Api;
use super::call::Params;
use super::problem::Problem;
use super::route::Nothing;
use crate::clock::Millis;
use crate::ids::ProjectId;
use crate::store::Reads;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Projects {
    items: Vec<ProjectView>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ProjectView {
    id: ProjectId,
    name: String,
    root: String,
    last_active_at: Millis,
    observations: u64,
    sessions: u64,
}

pub(super) fn list(api: &Api, _: &Params, _: Nothing) -> Result<Projects, Problem> {
    let counts = api.by_project()?;
    api.view(|reads| {
        let items = reads.projects()?.into_iter().map(|project| {
            let counted = counts.get(&project.id);
            let counted = counted.copied().unwrap_or_default();
            ProjectView {
                id: project.id,
                name: project.name,
                root: project.root,
                last_active_at: project.last_active,
                observations: counted.observations,
                sessions: counted.sessions,
            }
        });
        Ok(Projects {
            items: items.collect(),
        })
    })
}

/// The project of this id or name; none is none.
pub(super) fn named(reads: &Reads<'_>, text: Option<&str>) -> Result<Option<ProjectId>, Problem> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    if let Ok(id) = text.parse() {
        return Ok(Some(reads.project(ProjectId(id))?.id));
    }
    match &reads.projects_named(text)?[..] {
        [one] => Ok(Some(one.id)),
        [] => Err(Problem::new(
            StatusCode::NOT_FOUND,
            format!("there is no project {text:?}"),
            "GET /api/projects lists them.",
        )),
        several => {
            let ids: Vec<_> = several.iter().map(|one| one.id.to_string()).collect();
            Err(Problem::unfit(
                format!("several projects are called {text:?}"),
                format!("Say which by its id: {}.", ids.join(", ")),
            ))
        }
    }
}
