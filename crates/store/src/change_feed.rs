//! The change feed, for observers that follow the database while rows are added, changed and
//! deleted.
//!
//! A [`ChangeCursor`] is a position in the feed. Invariant: its numbers only grow, whatever the
//! clock does. New rows are found by their ids, which are never reused. Changes of existing rows
//! are numbered in `row_changes` by triggers, so that no code path can miss one.

use rusqlite::{OptionalExtension as _, params};

use super::{RowId, RowKind, StoreError, StoreReader, StoreWriter};
use crate::columns::ReadColumn;
use claude_mem_core::ids::SessionId;

/// The last row of each kind and the last change that an observer has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeCursor {
    pub observation: i64,
    pub summary: i64,
    pub prompt: i64,
    pub message: i64,
    pub account: i64,
    /// The last entry of `row_changes`: a row was corrected, judged, forgotten or restored.
    pub changed: i64,
}

impl ChangeCursor {
    /// The last seen row of a kind.
    pub fn last_seen_mut(&mut self, kind: RowKind) -> &mut i64 {
        match kind {
            RowKind::Observation => &mut self.observation,
            RowKind::Summary => &mut self.summary,
            RowKind::Prompt => &mut self.prompt,
            RowKind::Message => &mut self.message,
            RowKind::Account => &mut self.account,
        }
    }

    /// Whether this cursor is ahead of the database's own cursor `there`: then the database was
    /// replaced by an older backup.
    pub fn is_ahead_of(mut self, mut there: Self) -> bool {
        let rows =
            RowKind::ALL.into_iter().any(|kind| *self.last_seen_mut(kind) > *there.last_seen_mut(kind));
        rows || self.changed > there.changed
    }
}

/// A row that has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowChange {
    /// If the row does not exist, it was deleted.
    Row(RowId),
    Session(SessionId),
}

impl RowChange {
    fn from_columns(kind: &str, row_id: i64) -> Option<Self> {
        match kind {
            "session" => Some(Self::Session(SessionId(row_id))),
            kind => Some(Self::Row(RowId::new(RowKind::from_name(kind)?, row_id))),
        }
    }
}

impl StoreReader<'_> {
    /// The cursor at the current end of the feed.
    pub fn change_cursor(&self) -> Result<ChangeCursor, StoreError> {
        // The highest id that was ever assigned, even if its row is gone.
        let mut last = self.0.prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = ?1")?;
        let mut last = |table: &str| -> Result<i64, StoreError> {
            let found = last.query_row([table], |row| row.get(0)).optional()?;
            Ok(found.unwrap_or(0))
        };
        Ok(ChangeCursor {
            observation: last(RowKind::Observation.table())?,
            summary: last(RowKind::Summary.table())?,
            prompt: last(RowKind::Prompt.table())?,
            message: last(RowKind::Message.table())?,
            account: last(RowKind::Account.table())?,
            changed: last("row_changes")?,
        })
    }

    /// The changes after `seen` in order, each with its number.
    pub fn list_changes_after(&self, seen: i64, limit: usize) -> Result<Vec<(i64, RowChange)>, StoreError> {
        let mut statement = self
            .0
            .prepare_cached("SELECT id, kind, row_id FROM row_changes WHERE id > ?1 ORDER BY id LIMIT ?2")?;
        let rows = statement.query_map(params![seen, limit], |row| {
            let number: i64 = row.get(0)?;
            let changed = RowChange::from_columns(row.get_ref(1)?.as_str()?, row.get(2)?);
            Ok(changed.map(|changed| (number, changed)))
        })?;
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// The number of changes after `seen`, counted up to `limit`.
    pub fn count_changes_after(&self, seen: i64, limit: usize) -> Result<usize, StoreError> {
        Ok(self
            .0
            .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM row_changes WHERE id > ?1 LIMIT ?2)")?
            .query_row(params![seen, limit], |row| row.get(0))?)
    }

    /// The sessions that changed after `seen`, latest first.
    pub fn sessions_changed_after(&self, seen: i64, limit: usize) -> Result<Vec<SessionId>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT row_id FROM row_changes WHERE id > ?1 AND kind = 'session' ORDER BY id DESC LIMIT ?2",
        )?;
        Ok(rows.query_map(params![seen, limit], |row| row.column(0))?.collect::<Result<_, _>>()?)
    }

    /// Ids of rows of one kind above `seen`, ascending.
    pub fn row_ids_after(&self, kind: RowKind, seen: i64, limit: usize) -> Result<Vec<i64>, StoreError> {
        let table = kind.table();
        let mut rows =
            self.0.prepare_cached(&format!("SELECT id FROM {table} WHERE id > ?1 ORDER BY id LIMIT ?2"))?;
        Ok(rows.query_map(params![seen, limit], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// A number that differs whenever another connection has changed the database.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        Ok(self.0.query_row("PRAGMA data_version", [], |row| row.get(0))?)
    }
}

impl StoreWriter<'_> {
    /// Records that a row was restored: the one change that triggers cannot tell from an insert.
    pub(super) fn record_change(&self, RowId { kind, row_id }: RowId) -> Result<(), StoreError> {
        self.tx.execute("DELETE FROM row_changes WHERE kind = ?1 AND row_id = ?2", params![kind, row_id])?;
        self.tx.execute("INSERT INTO row_changes (kind, row_id) VALUES (?1, ?2)", params![kind, row_id])?;
        Ok(())
    }

    /// Deletes up to `rows_max` changes, except the latest `keep` and those that sharing has not looked at.
    /// Call it until it deletes fewer than `rows_max`.
    pub fn prune_changes(&self, keep: i64, rows_max: u32) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "DELETE FROM row_changes WHERE id IN (SELECT id FROM row_changes
               WHERE id <= (SELECT max(id) FROM row_changes) - ?1
                 AND id <= coalesce((SELECT min(sealed_change) FROM spaces), 9223372036854775807) LIMIT ?2)",
            params![keep, rows_max],
        )?)
    }
}
