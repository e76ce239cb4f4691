//! How far somebody has seen: for those who look on while rows come and go.

use rusqlite::params;

use super::{Reads, RowKind, StoreError};
use crate::ids::{ObservationId, SessionId};

/// The last row of each kind that was seen, and the last that was seen to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub observation: i64,
    pub summary: i64,
    pub prompt: i64,
    pub message: i64,
    pub forgotten: i64,
    /// When the last correction was made that was seen.
    pub edited: i64,
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
}

/// The same condition as that of the index.
const EDITED: &str = "FROM observations WHERE updated_at_epoch > created_at_epoch";

impl Reads<'_> {
    /// Everything that is there has been seen.
    pub fn marks(&self) -> Result<Marks, StoreError> {
        let last = |table: &str| {
            self.0
                .prepare_cached(&format!("SELECT coalesce(max(id), 0) FROM {table}"))?
                .query_row([], |row| row.get::<_, i64>(0))
        };
        Ok(Marks {
            observation: last(RowKind::Observation.table())?,
            summary: last(RowKind::Summary.table())?,
            prompt: last(RowKind::Prompt.table())?,
            message: last(RowKind::Message.table())?,
            forgotten: last("forgotten")?,
            edited: self
                .0
                .prepare_cached(&format!(
                    "SELECT coalesce(max(updated_at_epoch), 0) {EDITED}"
                ))?
                .query_row([], |row| row.get(0))?,
        })
    }

    /// Observations that were corrected, pinned or judged after `seen`, the last of them, in the
    /// order of their corrections, each with its time.
    pub fn edited_after(
        &self,
        seen: i64,
        limit: usize,
    ) -> Result<Vec<(i64, ObservationId)>, StoreError> {
        let mut rows = self.0.prepare_cached(&format!(
            "SELECT updated_at_epoch, id {EDITED} AND updated_at_epoch > ?1
             ORDER BY updated_at_epoch DESC, id DESC LIMIT ?2"
        ))?;
        let rows = rows.query_map(params![seen, limit], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
        rows.reverse();
        Ok(rows)
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

    /// What was forgotten after `seen`: the number of the forgetting, and the row.
    pub fn forgotten_after(
        &self,
        seen: i64,
        limit: usize,
    ) -> Result<Vec<(i64, RowKind, i64)>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT id, kind, row_id FROM forgotten WHERE id > ?1 ORDER BY id LIMIT ?2",
        )?;
        Ok(rows
            .query_map(params![seen, limit], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?
            .collect::<Result<_, _>>()?)
    }

    /// The last that were forgotten and can be brought back, as above.
    pub fn forgotten_last(&self, limit: usize) -> Result<Vec<(i64, RowKind, i64)>, StoreError> {
        let mut rows = self
            .0
            .prepare_cached("SELECT id, kind, row_id FROM forgotten ORDER BY id DESC LIMIT ?1")?;
        Ok(rows
            .query_map([limit], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<_, _>>()?)
    }

    /// The sessions under way that were last heard of.
    pub fn active_sessions(&self, limit: usize) -> Result<Vec<SessionId>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT id FROM sdk_sessions WHERE status = 'active' ORDER BY last_activity_epoch DESC LIMIT ?1",
        )?;
        Ok(rows
            .query_map([limit], |row| row.get(0))?
            .collect::<Result<_, _>>()?)
    }

    /// Changes whenever another connection, of whatever process, has changed the database.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        Ok(self
            .0
            .query_row("PRAGMA data_version", [], |row| row.get(0))?)
    }
}
