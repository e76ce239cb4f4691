//! The rows that pass column filters which the index scope cannot express: types, concepts, files, agents,
//! members.

use std::collections::HashSet;

use claude_mem_core::ids::MemberRowId;
use claude_mem_store::{RowFilter, RowId, RowOwner, StoreError, StoreReader, WideFolder};

/// A set of allowed rows, a folder condition, or both.
#[derive(Debug, Default)]
pub struct AllowedRows {
    rows: Option<HashSet<RowId>>,
    /// A folder with too many rows to list; each candidate is checked individually.
    folder: Option<WideFolder>,
    /// Rows of members that are left out.
    hidden: HashSet<RowId>,
}

impl AllowedRows {
    /// All rows but those of these members.
    pub fn without_members(reads: &StoreReader<'_>, members: &[MemberRowId]) -> Result<Self, StoreError> {
        Self::resolve(reads, None, members)
    }

    /// Evaluates the filter against the store.
    pub(super) fn resolve(
        reads: &StoreReader<'_>,
        filter: Option<RowFilter>,
        hidden: &[MemberRowId],
    ) -> Result<Self, StoreError> {
        let hidden = if hidden.is_empty() { HashSet::new() } else { reads.rows_of_members(hidden)? };
        let Some(mut filter) = filter else {
            return Ok(Self { rows: None, folder: None, hidden });
        };
        let folder = reads.wide_folder(filter.project, &filter.files)?;
        if folder.is_some() {
            filter.files.clear();
        }
        let is_member = matches!(filter.who, Some(RowOwner::Member(_)));
        let by_columns = !(filter.types.is_empty() && filter.concepts.is_empty() && filter.files.is_empty());
        let is_named = by_columns || is_member || filter.client.is_some();
        let rows = is_named.then(|| reads.matching_rows(&filter)).transpose()?;
        Ok(Self { rows: rows.map(|rows| rows.into_iter().collect()), folder, hidden })
    }

    /// The allowed rows, if there are at most `most` and no folder condition.
    pub(super) fn small_set(&self, most: usize) -> Option<&HashSet<RowId>> {
        let named = self.rows.as_ref().filter(|rows| rows.len() <= most && self.hidden.is_empty());
        named.filter(|_| self.folder.is_none())
    }

    /// Whether candidates must be checked individually.
    pub(super) fn needs_row_check(&self) -> bool {
        self.folder.is_some()
    }

    /// Whether the row may be allowed, without checking the folder condition.
    pub(super) fn may_contain(&self, key: RowId) -> bool {
        self.rows.as_ref().is_none_or(|rows| rows.contains(&key)) && !self.hidden.contains(&key)
    }

    /// Whether the row is allowed, including the folder condition.
    pub(super) fn contains(&self, reads: &StoreReader<'_>, key: RowId) -> Result<bool, StoreError> {
        match &self.folder {
            _ if !self.may_contain(key) => Ok(false),
            Some(folder) => reads.refers_below(folder, key),
            None => Ok(true),
        }
    }
}
