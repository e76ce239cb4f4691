//! Where the rows of old numbers are now.
//!
//! Consolidation merges and withdraws observations. Invariant: a number that was ever given to a row leads
//! to the row that holds its content now, or to the statement that its session withdrew it.

use rusqlite::{OptionalExtension, params};

use super::{RowId, RowKind, StoreError, StoreReader, StoreWriter};
use crate::columns::SqlColumn;
use claude_mem_core::ids::ObservationId;

/// The longest chain of merges that is followed.
const SUCCESSOR_CHAIN_MAX: u32 = 64;

/// Where a row is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowResolution {
    /// Under its own number, or nowhere: forgotten, purged or never given.
    Itself,
    /// Part of another row.
    PartOf(RowId),
    /// Its session withdrew it.
    Withdrawn,
}

impl RowResolution {
    /// The row to act on instead of `asked`; `None` if there is none.
    pub fn current(self, asked: RowId) -> Option<RowId> {
        match self {
            Self::Itself => Some(asked),
            Self::PartOf(row) => Some(row),
            Self::Withdrawn => None,
        }
    }

    /// A sentence for people and agents; `None` if the row has its own number.
    pub fn notice(self, asked: RowId) -> Option<String> {
        match self {
            Self::Itself => None,
            Self::PartOf(row) => Some(format!("{asked} is now part of {row}")),
            Self::Withdrawn => Some(format!("{asked} was withdrawn by its session")),
        }
    }
}

impl StoreReader<'_> {
    /// Where a row is now.
    pub fn resolve_row(&self, asked: RowId) -> Result<RowResolution, StoreError> {
        let mut row = asked;
        for _ in 0..SUCCESSOR_CHAIN_MAX {
            if self.row_exists(row)? {
                break;
            }
            match self.successor_of(row)? {
                RowResolution::Itself => break,
                RowResolution::Withdrawn => return Ok(RowResolution::Withdrawn),
                RowResolution::PartOf(next) => row = next,
            }
        }
        Ok(if row == asked { RowResolution::Itself } else { RowResolution::PartOf(row) })
    }

    pub(super) fn row_exists(&self, RowId { kind, row_id }: RowId) -> Result<bool, StoreError> {
        let sql = format!("SELECT 1 FROM {} WHERE id = ?1", kind.table());
        Ok(self.0.prepare_cached(&sql)?.exists([row_id])?)
    }

    /// The next step of the chain; `Itself` if no successor is known.
    fn successor_of(&self, RowId { kind, row_id }: RowId) -> Result<RowResolution, StoreError> {
        let mut found =
            self.0.prepare_cached("SELECT new_id FROM row_successors WHERE kind = ?1 AND old_id = ?2")?;
        let next = found.query_row(params![kind, row_id], |row| {
            let new: Option<i64> = row.get(0)?;
            Ok(new.map_or(RowResolution::Withdrawn, |new| RowResolution::PartOf(RowId::new(kind, new))))
        });
        Ok(next.optional()?.unwrap_or(RowResolution::Itself))
    }
}

impl StoreWriter<'_> {
    /// Records that the content of `old` is now part of `new`, or nowhere. What led to `old` leads to `new`.
    pub fn set_successor(&self, old: ObservationId, new: Option<ObservationId>) -> Result<(), StoreError> {
        if new == Some(old) {
            return Ok(());
        }
        let reason = if new.is_some() { "merged" } else { "withdrawn" };
        self.tx
            .prepare_cached(
                "INSERT INTO row_successors (kind, old_id, old_uid, new_id, reason)
                 SELECT ?1, ?2, uid, ?3, ?4 FROM observations WHERE id = ?2
                 UNION ALL SELECT ?1, ?2, old_uid, ?3, ?4 FROM row_successors WHERE kind = ?1 AND old_id = ?2
                 LIMIT 1
                 ON CONFLICT (kind, old_id) DO UPDATE SET new_id = excluded.new_id, reason = excluded.reason",
            )?
            .execute(params![RowKind::Observation, old.sql(), new.sql(), reason])?;
        if let Some(new) = new {
            self.tx
                .prepare_cached(
                    "UPDATE row_successors SET new_id = ?3 WHERE kind = ?1 AND new_id = ?2 AND old_id <> ?3",
                )?
                .execute(params![RowKind::Observation, old.sql(), new.sql()])?;
            // A row that exists needs no successor: its number was withdrawn before and has come back.
            self.tx
                .prepare_cached("DELETE FROM row_successors WHERE kind = ?1 AND old_id = ?2")?
                .execute(params![RowKind::Observation, new.sql()])?;
        }
        Ok(())
    }
}
