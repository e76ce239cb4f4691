//! Memories that need a decision: replaced, repeated, unused, about missing files, or suggested as preferences.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::lookup;
use super::problem::Problem;
use super::provenance::{TitledRow, titled};
use super::rows::ObservationView;
use super::view_builder::ViewBuilder;
use claude_mem_core::ids::{ObservationId, ProjectId};
use claude_mem_store::{MemoryLevel, Observation, PageRequest, RowFilter, StoreReader};

/// Rows listed of one group.
const GROUP_ROWS_MAX: u32 = 25;
/// Recent rows that are compared with each other and with the files on disk.
const COMPARED_ROWS: u32 = 400;
/// Files that are looked up on disk.
const FILES_MAX: usize = 400;
/// Share of the words of two titles that makes them near-duplicates, in percent.
const SAME_WORDS_PERCENT: usize = 75;
/// Fewer words than this say too little to be compared.
const TITLE_WORDS_MIN: usize = 4;
/// Days without use after which a memory is listed.
const UNUSED_DAYS: i64 = 90;
const DAY_SECONDS: i64 = 86_400;

/// Filter of the review.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ReviewParams {
    /// Project id or name.
    project: Option<String>,
    /// Days without use, instead of 90.
    days: Option<u32>,
}

/// Memories that need a decision, by reason.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReviewView {
    groups: Vec<ReviewGroup>,
}

/// The memories with one reason.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReviewGroup {
    name: ReviewReason,
    items: Vec<ReviewItem>,
    has_more: bool,
}

/// Why a memory is listed.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ReviewReason {
    Suggested,
    Replaced,
    Duplicate,
    Missing,
    Unused,
}

/// A memory, with the one that it is compared to.
#[derive(Debug, Serialize, JsonSchema)]
struct ReviewItem {
    row: ObservationView,
    /// The memory that replaced it, or that says the same.
    other: Option<TitledRow>,
    /// The files that are gone.
    files: Vec<String>,
}

/// Handles `GET /api/review`.
pub(super) fn review(api: &ApiState, _: &PathParams, asked: ReviewParams) -> Result<ReviewView, Problem> {
    let days = asked.days.map_or(UNUSED_DAYS, i64::from);
    let before = api.now().plus_seconds(-days * DAY_SECONDS);
    api.view(|reads| {
        let project = lookup::resolve_project(reads, asked.project.as_deref())?;
        let filter = RowFilter { project, ..RowFilter::default() };
        let recent = reads.observations(&filter, PageRequest::first(COMPARED_ROWS))?.items;
        let mut list = GroupBuilder { reads, views: ViewBuilder::new(reads), groups: Vec::new() };
        let suggested = reads.observations_at_level(MemoryLevel::Proposed)?.into_iter();
        let suggested = suggested.filter(|row| project.is_none() || row.project == project && !row.wrong);
        list.push(ReviewReason::Suggested, suggested.map(|row| (row, None, Vec::new())).collect())?;
        let replaced = reads.replaced_observations(project, GROUP_ROWS_MAX + 1)?;
        let replaced = reads.observations_by_id(&replaced)?.into_iter();
        let replaced = replaced.map(|row| (row.replaced_by, row)).map(|(by, row)| (row, by, Vec::new()));
        list.push(ReviewReason::Replaced, replaced.collect())?;
        list.push(ReviewReason::Duplicate, near_duplicates(&recent))?;
        list.push(ReviewReason::Missing, missing_files(reads, &recent)?)?;
        let unused = reads.unused_observations(project, before, GROUP_ROWS_MAX + 1)?;
        let unused = reads.observations_by_id(&unused)?.into_iter();
        list.push(ReviewReason::Unused, unused.map(|row| (row, None, Vec::new())).collect())?;
        Ok(ReviewView { groups: list.groups })
    })
}

/// A listed memory, the id of the one it is compared to, and its missing files.
type Candidate = (Observation, Option<ObservationId>, Vec<String>);

struct GroupBuilder<'r> {
    reads: &'r StoreReader<'r>,
    views: ViewBuilder<'r>,
    groups: Vec<ReviewGroup>,
}

impl GroupBuilder<'_> {
    fn push(&mut self, name: ReviewReason, rows: Vec<Candidate>) -> Result<(), Problem> {
        let has_more = rows.len() > GROUP_ROWS_MAX as usize;
        let mut items = Vec::new();
        for (row, other, files) in rows.into_iter().take(GROUP_ROWS_MAX as usize) {
            let other = other.map(|id| titled(self.reads, id)).transpose()?.flatten();
            items.push(ReviewItem { row: self.views.observation(row)?, other, files });
        }
        self.groups.push(ReviewGroup { name, items, has_more });
        Ok(())
    }
}

/// Older rows whose title has nearly the same words as a newer one of the same project.
fn near_duplicates(rows: &[Observation]) -> Vec<Candidate> {
    let words = |row: &Observation| -> HashSet<String> {
        let title = row.title.to_lowercase();
        title.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2).map(str::to_owned).collect()
    };
    let known: Vec<(HashSet<String>, &Observation)> = rows
        .iter()
        .filter(|row| !row.wrong && row.replaced_by.is_none())
        .map(|row| (words(row), row))
        .filter(|(words, _)| words.len() >= TITLE_WORDS_MIN)
        .collect();
    let mut found = Vec::new();
    for (at, (mine, row)) in known.iter().enumerate() {
        let is_same = |(theirs, newer): &&(HashSet<String>, &Observation)| {
            let (few, many) = (mine.len().min(theirs.len()), mine.len().max(theirs.len()));
            // No more words can be shared than the shorter title has.
            if newer.project != row.project || few * 100 < many * SAME_WORDS_PERCENT {
                return false;
            }
            let shared = mine.intersection(theirs).count();
            let all = mine.len() + theirs.len() - shared;
            shared * 100 >= all * SAME_WORDS_PERCENT
        };
        // Rows come newest first.
        if let Some((_, newer)) = known[..at].iter().find(is_same) {
            found.push(((*row).clone(), Some(newer.id), Vec::new()));
        }
    }
    found
}

/// Rows all of whose edited files are gone from the project's directory.
fn missing_files(reads: &StoreReader<'_>, rows: &[Observation]) -> Result<Vec<Candidate>, Problem> {
    let mut roots: HashMap<ProjectId, Option<String>> = HashMap::new();
    let (mut found, mut looked_at) = (Vec::new(), 0);
    for row in rows.iter().filter(|row| !row.wrong && !row.files_modified.is_empty()) {
        let Some(project) = row.project else { continue };
        looked_at += row.files_modified.len();
        if looked_at > FILES_MAX {
            break;
        }
        let root = match roots.entry(project) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let root = reads.project(project)?.root;
                new.insert(Some(root).filter(|root| Path::new(root).is_dir()))
            }
        };
        let Some(root) = root else { continue };
        let is_gone = |file: &String| !Path::new(root).join(file).exists();
        if row.files_modified.iter().all(is_gone) {
            found.push((row.clone(), None, row.files_modified.clone()));
        }
    }
    Ok(found)
}
