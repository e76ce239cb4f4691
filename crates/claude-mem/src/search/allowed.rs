//! The rows that filters name one by one, where there is more to a filter than a scope can say.

use std::collections::HashSet;

use super::rank::RowKey;
use crate::store::{Filter, Reads, StoreError, WideFolder};

/// Either kind of condition, or both.
#[derive(Debug, Default)]
pub struct Allowed {
    rows: Option<HashSet<RowKey>>,
    /// Too much lies below it to name: each row is looked at when it comes up.
    folder: Option<WideFolder>,
}

impl Allowed {
    pub(super) fn of(reads: &Reads<'_>, mut filter: Filter) -> Result<Self, StoreError> {
        let folder = reads.wide_folder(filter.project, &filter.files)?;
        if folder.is_some() {
            filter.files.clear();
        }
        let is_named =
            !(filter.types.is_empty() && filter.concepts.is_empty() && filter.files.is_empty());
        let rows = is_named.then(|| reads.rows_passing(&filter)).transpose()?;
        Ok(Self {
            rows: rows.map(|rows| rows.into_iter().collect()),
            folder,
        })
    }

    /// All of them, if they are so few.
    pub(super) fn few(&self, most: usize) -> Option<&HashSet<RowKey>> {
        let named = self.rows.as_ref().filter(|rows| rows.len() <= most);
        named.filter(|_| self.folder.is_none())
    }

    /// Whether each has to be looked at when it comes up.
    pub(super) fn is_tested(&self) -> bool {
        self.folder.is_some()
    }

    /// As far as that can be told without looking.
    pub(super) fn may_have(&self, key: RowKey) -> bool {
        self.rows.as_ref().is_none_or(|rows| rows.contains(&key))
    }

    pub(super) fn has(&self, reads: &Reads<'_>, key: RowKey) -> Result<bool, StoreError> {
        match &self.folder {
            _ if !self.may_have(key) => Ok(false),
            Some(folder) => reads.is_below(folder, key.0, key.1),
            None => Ok(true),
        }
    }
}
