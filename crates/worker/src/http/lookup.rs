//! Finds the project or the session that a request names by id or by name.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use super::problem::Problem;
use claude_mem_core::ids::{ClientSessionId, ProjectId, SessionId};
use claude_mem_store::{RowId, SessionRow, StoreError, StoreReader};

/// A project id or name; pages send an id as a number or as text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ProjectName")]
pub(super) enum ProjectSelector {
    Id(i64),
    Name(String),
}

impl ProjectSelector {
    /// The id or name as text.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Id(id) => id.to_string(),
            Self::Name(name) => name.clone(),
        }
    }
}

/// The project with this id or name; `None` if no text is given. A number is an id, or else a name
/// if there is no such id; `name:2048` always is a name.
pub(super) fn resolve_project(
    reads: &StoreReader<'_>,
    text: Option<&str>,
) -> Result<Option<ProjectId>, Problem> {
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
            format!("no project is named {text:?}"),
            "GET /api/projects lists them.",
        )),
        several => {
            let ids: Vec<_> = several.iter().map(|one| one.id.to_string()).collect();
            Err(Problem::unprocessable(
                format!("several projects are named {text:?}"),
                format!("Use an id instead: {}.", ids.join(", ")),
            ))
        }
    }
}

/// Finds a session by our id or the client's. A number is our id, or else the client's if we have
/// no such session; `client:42` always is the client's id.
pub(super) fn find_session(reads: &StoreReader<'_>, text: &str) -> Result<SessionRow, Problem> {
    if let Ok(id) = text.parse() {
        match reads.session(SessionId(id)) {
            Err(StoreError::NoSuchRow { .. }) => {}
            found => return Ok(found?),
        }
    }
    let text = text.strip_prefix("client:").unwrap_or(text);
    let found = reads.newest_session_with_id(&ClientSessionId(text.to_owned()))?;
    found.ok_or_else(|| Problem::not_found(format!("session {text:?}")))
}

/// The row to act on for a number that was once given to a row: consolidation may have merged it.
pub(super) fn current_row(reads: &StoreReader<'_>, asked: RowId) -> Result<RowId, Problem> {
    let now = reads.resolve_row(asked)?;
    now.current(asked).ok_or_else(|| {
        let what = now.notice(asked).unwrap_or_else(|| asked.to_string());
        Problem::new(StatusCode::NOT_FOUND, what, "Its session no longer states it.")
    })
}
