//! Finds memories all of whose edited files are gone from the project's directory.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::problem::Problem;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ObservationId, ProjectId};
use claude_mem_store::{Observation, StoreReader};

/// Paths that are looked up on disk in one request.
const PATHS_MAX: u32 = 20_000;
/// Memories of one missing path that are considered.
const PATH_ROWS_MAX: u32 = 200;

/// Memories that edited only files that are missing now, newest first, up to `limit`. `is_kept` tells those that
/// a person decided to keep.
pub(super) fn rows_with_missing_files(
    reads: &StoreReader<'_>,
    project: Option<ProjectId>,
    limit: usize,
    is_kept: impl Fn(ObservationId) -> bool,
) -> Result<Vec<Observation>, Problem> {
    let projects = match project {
        Some(id) => vec![reads.project(id)?],
        None => reads.projects()?,
    };
    let (mut left, mut rows, mut roots) = (PATHS_MAX, BTreeSet::new(), HashMap::new());
    for project in projects {
        // Of a project that is elsewhere, or gone as a whole, nothing is known.
        if !Path::new(&project.root).is_dir() {
            continue;
        }
        left -= collect_rows(reads, project.id, &project.root, left, &mut rows)?;
        roots.insert(project.id, project.root);
        if left == 0 {
            break;
        }
    }
    let mut found = Vec::new();
    for (_, id) in rows.into_iter().rev().filter(|(_, id)| !is_kept(*id)) {
        for row in reads.observations_by_id(&[id])? {
            let root = row.project.and_then(|project| roots.get(&project));
            let is_gone = |file: &String| root.is_some_and(|root| is_missing(root, file));
            let are_all_gone =
                !row.text.files_modified.is_empty() && row.text.files_modified.iter().all(is_gone);
            if are_all_gone && !row.wrong && row.replaced_by.is_none() {
                found.push(row);
            }
        }
        if found.len() == limit {
            break;
        }
    }
    Ok(found)
}

/// Adds the memories that refer to missing paths of a project; returns how many paths were looked up.
fn collect_rows(
    reads: &StoreReader<'_>,
    project: ProjectId,
    root: &str,
    paths_max: u32,
    rows: &mut BTreeSet<(Millis, ObservationId)>,
) -> Result<u32, Problem> {
    let paths = reads.referenced_paths(project, "", paths_max)?;
    for path in paths.iter().filter(|path| is_missing(root, path)) {
        rows.extend(reads.observations_of_path(project, path, PATH_ROWS_MAX)?);
    }
    Ok(u32::try_from(paths.len()).unwrap_or(paths_max))
}

fn is_missing(root: &str, file: &str) -> bool {
    !Path::new(root).join(file).exists()
}
