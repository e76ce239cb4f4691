//! Which project is meant by what people and agents call it.

use crate::ids::ProjectId;
use crate::store::{Project, Reads, StoreError};

/// What a name or a number may mean.
#[derive(Clone, Debug, PartialEq)]
pub enum Called {
    One(ProjectId),
    /// Directories may well share a name: whoever asks has to say which.
    Several(Vec<Project>),
    Nobody,
}

/// By its name, or by its number.
pub fn called(reads: &Reads<'_>, name: &str) -> Result<Called, StoreError> {
    let mut named = reads.projects_named(name)?;
    if named.len() > 1 {
        return Ok(Called::Several(named));
    }
    if let Some(one) = named.pop() {
        return Ok(Called::One(one.id));
    }
    let by_number = name.parse().ok().map(ProjectId);
    match by_number {
        Some(id) if reads.project_name(id)?.is_some() => Ok(Called::One(id)),
        _ => Ok(Called::Nobody),
    }
}

/// `3 (/a/api), 7 (/b/api)`.
pub fn numbers(several: &[Project]) -> String {
    let each = several
        .iter()
        .map(|one| format!("{} ({})", one.id, one.root));
    each.collect::<Vec<_>>().join(", ")
}
