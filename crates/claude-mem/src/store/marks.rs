//! How far somebody has seen: for those who look on while rows come, change and go.
//!
//! Invariant: the numbers only grow, whatever the clock does. Rows have theirs, which are never
//! given twice; what happens to rows that are there already is numbered in `row_changes`, by
//! triggers, so that no way of changing a row can leave it out.

use rusqlite::{OptionalExtension as _, params};

use super::{Reads, RowKind, StoreError, Writes};
use crate::ids::SessionId;

/// The last row of each kind that was seen, and the last change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub observation: i64,
    pub summary: i64,
    pub prompt: i64,
    pub message: i64,
    /// The number of the last change of a row: it was corrected, judged, forgotten, brought back.
    pub changed: i64,
}

impl Marks {
    pub fn of(&mut self, kind: RowKind) -> &mut i64 {
        match kind {
            RowKind::Observation => &mut self.observation,
            RowKind::Summary => &mut self.summary,
            RowKind::Prompt => &mut self.prompt,
            RowKind::Message => &mut self.message,
        }
    }

    /// Whether these are of a database that was further than the one `there` is of: one that was
    /// replaced by its backup.
    pub fn is_beyond(mut self, mut there: Self) -> bool {
        let rows = RowKind::ALL
            .into_iter()
            .any(|kind| *self.of(kind) > *there.of(kind));
        rows || self.changed > there.changed
    }
}

/// What has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// If it is not there, it was removed.
    Row(RowKind, i64),
    Session(SessionId),
}

impl Changed {
    fn of(kind: &str, row_id: i64) -> Option<Self> {
        match kind {
            "session" => Some(Self::Session(SessionId(row_id))),
            kind => Some(Self::Row(RowKind::from_name(kind)?, row_id)),
        }
    }
}

impl Reads<'_> {
    /// Everything that is there has been seen.
    pub fn marks(&self) -> Result<Marks, StoreError> {
        // The highest number that was ever given, also if its row is gone.
        let mut last = self
            .0
            .prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = ?1")?;
        let mut last = |table: &str| -> Result<i64, StoreError> {
            let found = last.query_row([table], |row| row.get(0)).optional()?;
            Ok(found.unwrap_or(0))
        };
        Ok(Marks {
            observation: last(RowKind::Observation.table())?,
            summary: last(RowKind::Summary.table())?,
            prompt: last(RowKind::Prompt.table())?,
            message: last(RowKind::Message.table())?,
            changed: last("row_changes")?,
        })
    }

    /// What changed after `seen`, in the order of the changes, each with its number.
    pub fn changed_after(
        &self,
        seen: i64,
        limit: usize,
    ) -> Result<Vec<(i64, Changed)>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT id, kind, row_id FROM row_changes WHERE id > ?1 ORDER BY id LIMIT ?2",
        )?;
        let rows = rows.query_map(params![seen, limit], |row| {
            let number: i64 = row.get(0)?;
            let changed = Changed::of(row.get_ref(1)?.as_str()?, row.get(2)?);
            Ok(changed.map(|changed| (number, changed)))
        })?;
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// How much has changed after `seen`, counted no further than `limit`.
    pub fn changes_after(&self, seen: i64, limit: usize) -> Result<usize, StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT count(*) FROM (SELECT 1 FROM row_changes WHERE id > ?1 LIMIT ?2)",
            )?
            .query_row(params![seen, limit], |row| row.get(0))?)
    }

    /// The sessions that changed after `seen`, the last of them.
    pub fn sessions_changed_after(
        &self,
        seen: i64,
        limit: usize,
    ) -> Result<Vec<SessionId>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT row_id FROM row_changes WHERE id > ?1 AND kind = 'session' ORDER BY id DESC LIMIT ?2",
        )?;
        Ok(rows
            .query_map(params![seen, limit], |row| row.get(0))?
            .collect::<Result<_, _>>()?)
    }

    /// Rows of one kind that came after `seen`, in the order in which they came.
    pub fn rows_after(
        &self,
        kind: RowKind,
        seen: i64,
        limit: usize,
    ) -> Result<Vec<i64>, StoreError> {
        let table = kind.table();
        let mut rows = self.0.prepare_cached(&format!(
            "SELECT id FROM {table} WHERE id > ?1 ORDER BY id LIMIT ?2"
        ))?;
        Ok(rows
            .query_map(params![seen, limit], |row| row.get(0))?
            .collect::<Result<_, _>>()?)
    }

    /// Changes whenever another connection, of whatever process, has changed the database.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        Ok(self
            .0
            .query_row("PRAGMA data_version", [], |row| row.get(0))?)
    }
}

impl Writes<'_> {
    /// A row is there again: the one change that no trigger can tell from a new row.
    pub(super) fn note_change(&self, kind: RowKind, row_id: i64) -> Result<(), StoreError> {
        self.tx.execute(
            "DELETE FROM row_changes WHERE kind = ?1 AND row_id = ?2",
            params![kind, row_id],
        )?;
        self.tx.execute(
            "INSERT INTO row_changes (kind, row_id) VALUES (?1, ?2)",
            params![kind, row_id],
        )?;
        Ok(())
    }

    /// Some of the changes before the last `keep` of them go. To be called until
    /// fewer go than it may.
    pub fn drop_changes(&self, keep: i64, rows_max: u32) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "DELETE FROM row_changes WHERE id IN (SELECT id FROM row_changes
               WHERE id <= (SELECT max(id) FROM row_changes) - ?1 LIMIT ?2)",
            params![keep, rows_max],
        )?)
    }
}
