//! Looks up a project by the name, id or directory a user or agent typed.

use claude_mem_core::ids::ProjectId;
use claude_mem_store::{ProjectRow, StoreError, StoreReader};

/// The result of looking up a project.
#[derive(Clone, Debug, PartialEq)]
pub enum ProjectLookup {
    One(ProjectId),
    /// Several projects share the name; the caller must ask for an id.
    Ambiguous(Vec<ProjectRow>),
    NotFound,
}

/// Finds a project by name, else by id, else by its directory as `project list` prints it, whether or not
/// the directory still exists.
pub fn find_project(reads: &StoreReader<'_>, name: &str) -> Result<ProjectLookup, StoreError> {
    let mut named = reads.projects_named(name)?;
    if named.len() > 1 {
        return Ok(ProjectLookup::Ambiguous(named));
    }
    if let Some(one) = named.pop() {
        return Ok(ProjectLookup::One(one.id));
    }
    let by_number = name.parse().ok().map(ProjectId);
    match by_number {
        Some(id) if reads.project_name(id)?.is_some() => Ok(ProjectLookup::One(id)),
        _ if name.contains('/') => {
            let directory = name.trim_end_matches('/');
            let found = reads.projects()?.into_iter().find(|one| one.root.trim_end_matches('/') == directory);
            Ok(found.map_or(ProjectLookup::NotFound, |one| ProjectLookup::One(one.id)))
        }
        _ => Ok(ProjectLookup::NotFound),
    }
}

/// Formats ambiguous projects with their ids: `3 (/a/api), 7 (/b/api)`.
pub fn format_choices(several: &[ProjectRow]) -> String {
    let each = several.iter().map(|one| format!("{} ({})", one.id, one.root));
    each.collect::<Vec<_>>().join(", ")
}
