//! The timeline around one row: the rows before and after it, in chronological order.

use crate::items::ItemBuilder;
use crate::rank::ScoreParts;
use crate::request::SearchItem;
use claude_mem_core::clock::Millis;
use claude_mem_core::memory::ObservationType;
use claude_mem_store::{RowFilter, RowId, RowKind, StoreError, StoreReader};

/// Which rows to show around an anchor.
#[derive(Clone, Debug)]
pub struct TimelineRequest {
    pub anchor: RowId,
    pub before: usize,
    pub after: usize,
    /// Row kinds to show; empty means all.
    pub kinds: Vec<RowKind>,
    /// Observation types to show; empty means all rows. The anchor is always shown.
    pub types: Vec<ObservationType>,
    /// Earliest creation time, inclusive.
    pub since: Option<Millis>,
    /// Latest creation time, exclusive.
    pub until: Option<Millis>,
    /// Shows all projects instead of the anchor's only.
    pub all_projects: bool,
    /// Includes observations marked as wrong. The anchor is always shown.
    pub include_wrong: bool,
}

/// Extra rows read to make up for those marked as wrong.
const SPARE_ROWS: usize = 50;

/// Maximum rows read with the anchor's timestamp; an import may give thousands the same one.
const SAME_MOMENT_ROWS_MAX: usize = 500;

/// Rows around the anchor, oldest first, of the anchor's project; if it has none, rows without a
/// project. `None` if the anchor does not exist.
pub fn timeline(
    reads: &StoreReader<'_>,
    around: &TimelineRequest,
) -> Result<Option<Vec<SearchItem>>, StoreError> {
    let Some((project, at)) = reads.project_and_time_of(around.anchor)? else {
        return Ok(None);
    };
    let scope = |since: Option<Millis>, until: Option<Millis>, oldest_first: bool| RowFilter {
        project: project.filter(|_| !around.all_projects),
        user_level: project.is_none() && !around.all_projects,
        kinds: around.kinds.clone(),
        types: around.types.clone(),
        // `None` is the smallest `Option`, so `max` keeps the later start.
        since: since.max(around.since),
        until: until.into_iter().chain(around.until).min(),
        oldest_first,
        ..RowFilter::default()
    };
    let key = around.anchor;
    let mut items = ItemBuilder::new(reads);
    let mut told = |keys: Vec<RowId>, most: usize| -> Result<Vec<SearchItem>, StoreError> {
        let mut found = Vec::with_capacity(most);
        for key in keys {
            if found.len() == most {
                break;
            }
            let item = items.build(key, 0.0, ScoreParts::default())?;
            found.extend(item.filter(|item| around.include_wrong || !item.wrong));
        }
        Ok(found)
    };
    let next = Some(Millis(at.0 + 1));
    // A turn stores most of its rows with one timestamp; these are ordered by key.
    let same = reads.rows_by_time(&scope(Some(at), next, true), SAME_MOMENT_ROWS_MAX)?;
    let earlier = reads.rows_by_time(&scope(None, Some(at), false), around.before + SPARE_ROWS)?;
    let later = reads.rows_by_time(&scope(next, None, true), around.after + SPARE_ROWS)?;
    let just_before = same.iter().rev().filter(|row| **row < key).copied();
    let just_after = same.iter().filter(|row| **row > key).copied();
    let earlier = just_before.chain(earlier).collect();
    let later = just_after.chain(later).collect();
    let mut found = told(earlier, around.before)?;
    found.reverse();
    let later = told(later, around.after)?;
    found.extend(items.build(key, 0.0, ScoreParts::default())?);
    found.extend(later);
    Ok(Some(found))
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
mod tests;
