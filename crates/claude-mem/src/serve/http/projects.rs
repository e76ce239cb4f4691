//! Projects, and finding one by what people call it.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::Api;
use super::call::Params;
use super::lists::{cut, page};
use super::problem::Problem;
use super::rows::Listed;
use crate::clock::Millis;
use crate::ids::ProjectId;
use crate::limits::HTTP_ROWS_MAX;
use crate::store::{Reads, StoreError};

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Which {
    offset: u32,
    /// The most that there may be, if it is left out: a choice wants to show all of them.
    limit: Option<u32>,
}

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

pub(super) fn list(api: &Api, _: &Params, which: Which) -> Result<Listed<ProjectView>, Problem> {
    let page = page(which.offset, which.limit.or(Some(HTTP_ROWS_MAX)));
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
        Ok(cut(page, items))
    })
}

/// The project of this id or name; none is none. A number is an id, and a name where there is no
/// such id; `name:2048` is a name in any case.
pub(super) fn named(reads: &Reads<'_>, text: Option<&str>) -> Result<Option<ProjectId>, Problem> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    if let Ok(id) = text.parse() {
        match reads.project(ProjectId(id)) {
            Err(StoreError::NoSuchRow { .. }) => {}
            found => return Ok(Some(found?.id)),
        }
    }
    let text = text.strip_prefix("name:").unwrap_or(text);
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
