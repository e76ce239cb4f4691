//! What happened around a moment: the rows before and after one, in order.

use super::ask::Item;
use super::handle::Handle;
use super::items::Items;
use super::rank::{Parts, RowKey};
use crate::clock::Millis;
use crate::memory::ObservationType;
use crate::store::{Reads, RowKind, StoreError, WordScope};

/// What to show around the anchor.
#[derive(Clone, Debug)]
pub struct Around {
    pub anchor: Handle,
    pub before: usize,
    pub after: usize,
    /// Empty: all kinds.
    pub kinds: Vec<RowKind>,
    /// Empty: all. Otherwise only observations of these, and the anchor.
    pub types: Vec<ObservationType>,
    pub since: Option<Millis>,
    /// Exclusive.
    pub until: Option<Millis>,
    /// Of every project, not of the anchor's alone.
    pub all_projects: bool,
    /// Also what was marked as wrong; the anchor is there in any case.
    pub with_wrong: bool,
}

/// Rows that are looked at beyond those asked for, in the place of what was marked as wrong.
const SPARE_ROWS: usize = 50;

/// Rows of one moment at most; an import may have given thousands the same.
const SAME_MOMENT_ROWS_MAX: usize = 500;

/// Oldest first, the anchor among them, all of the anchor's project; where it belongs to none,
/// only what belongs to none. `None` if there is no such row.
pub fn timeline(reads: &Reads<'_>, around: &Around) -> Result<Option<Vec<Item>>, StoreError> {
    let Some((project, at)) = reads.place_of(around.anchor.kind, around.anchor.row_id)? else {
        return Ok(None);
    };
    let scope = |since: Option<Millis>, until: Option<Millis>| WordScope {
        project: project.filter(|_| !around.all_projects),
        user_level: project.is_none() && !around.all_projects,
        kinds: around.kinds.clone(),
        types: around.types.clone(),
        // `None` is the least, and an end that is not there the latest.
        since: since.max(around.since),
        until: until.into_iter().chain(around.until).min(),
    };
    let key = around.anchor.key();
    let mut items = Items::new(reads);
    let mut told = |keys: Vec<RowKey>, most: usize| -> Result<Vec<Item>, StoreError> {
        let mut found = Vec::with_capacity(most);
        for key in keys {
            if found.len() == most {
                break;
            }
            let item = items.item(key, 0.0, Parts::default())?;
            found.extend(item.filter(|item| around.with_wrong || !item.wrong));
        }
        Ok(found)
    };
    let next = Some(Millis(at.0 + 1));
    // A turn leaves most of its rows in one moment: they keep their order, whichever is asked for.
    let same = reads.rows_in_time(&scope(Some(at), next), true, SAME_MOMENT_ROWS_MAX)?;
    let earlier = reads.rows_in_time(&scope(None, Some(at)), false, around.before + SPARE_ROWS)?;
    let later = reads.rows_in_time(&scope(next, None), true, around.after + SPARE_ROWS)?;
    let just_before = same.iter().rev().filter(|row| **row < key).copied();
    let just_after = same.iter().filter(|row| **row > key).copied();
    let earlier = just_before.chain(earlier).collect();
    let later = just_after.chain(later).collect();
    let mut found = told(earlier, around.before)?;
    found.reverse();
    let later = told(later, around.after)?;
    found.extend(items.item(key, 0.0, Parts::default())?);
    found.extend(later);
    Ok(Some(found))
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
mod tests;
