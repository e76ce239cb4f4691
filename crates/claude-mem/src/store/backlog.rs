//! Which rows are owed vectors, on the side of the truth. Durable: a killed worker goes on here.

use rusqlite::{OptionalExtension, params};

use super::{Reads, RowKind, StoreError, Writes};
use crate::clock::Millis;
use crate::ids::ProjectId;

/// A row whose vectors are missing or stale, or which is gone and must leave none behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owed {
    pub kind: RowKind,
    pub row_id: i64,
    /// As the row stands now; `None` where there is nothing to embed any more.
    pub text: Option<OwedText>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwedText {
    pub text_hash: i64,
    pub project: Option<ProjectId>,
    pub created_at: Millis,
}

const TEXT: &str =
    "SELECT text_hash, project_id, created_at_epoch FROM texts INDEXED BY texts_to_embed
    WHERE kind = ?1 AND row_id = ?2";

impl Reads<'_> {
    /// The next rows: what is to be removed, then the newest.
    pub fn owed_vectors(&self, limit: usize) -> Result<Vec<Owed>, StoreError> {
        let mut owed = self
            .0
            .prepare_cached("SELECT kind, row_id FROM vector_backlog ORDER BY at DESC LIMIT ?1")?;
        let owed = owed
            .query_map([limit], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<Vec<(RowKind, i64)>, _>>()?;
        owed.into_iter()
            .map(|(kind, row_id)| {
                let text = self.owed_text(kind, row_id)?;
                Ok(Owed { kind, row_id, text })
            })
            .collect()
    }

    /// What a row's vectors must have been made from.
    pub fn owed_text(&self, kind: RowKind, row_id: i64) -> Result<Option<OwedText>, StoreError> {
        Ok(self
            .0
            .prepare_cached(TEXT)?
            .query_row(params![kind, row_id], |row| {
                Ok(OwedText {
                    text_hash: row.get(0)?,
                    project: row.get(1)?,
                    created_at: row.get(2)?,
                })
            })
            .optional()?)
    }

    pub fn owed_vectors_count(&self) -> Result<u64, StoreError> {
        Ok(self
            .0
            .prepare_cached("SELECT count(*) FROM vector_backlog")?
            .query_row([], |row| row.get(0))?)
    }

    /// Every row that can have vectors, by kind and id, with the text they must be of.
    pub fn each_embeddable(
        &self,
        mut take: impl FnMut(RowKind, i64, OwedText),
    ) -> Result<(), StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT kind, row_id, text_hash, project_id, created_at_epoch
             FROM texts INDEXED BY texts_to_embed",
        )?;
        let mut rows = rows.query([])?;
        while let Some(row) = rows.next()? {
            let text = OwedText {
                text_hash: row.get(2)?,
                project: row.get(3)?,
                created_at: row.get(4)?,
            };
            take(row.get(0)?, row.get(1)?, text);
        }
        Ok(())
    }
}

impl Writes<'_> {
    pub fn owe_vectors(&self, kind: RowKind, row_id: i64, at: Millis) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO vector_backlog (kind, row_id, at) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET at = excluded.at",
            )?
            .execute(params![kind, row_id, at])?;
        Ok(())
    }

    /// A row that is gone must leave no vectors behind; this goes before all else.
    pub fn owe_removal(&self, kind: RowKind, row_id: i64) -> Result<(), StoreError> {
        self.owe_vectors(kind, row_id, Millis(i64::MAX))
    }

    pub(super) fn owe_vectors_of(&self, project: ProjectId) -> Result<(), StoreError> {
        self.tx.execute(
            "INSERT INTO vector_backlog (kind, row_id, at)
             SELECT kind, row_id, created_at_epoch FROM texts WHERE project_id = ?1
             ON CONFLICT DO NOTHING",
            [project],
        )?;
        Ok(())
    }

    /// Everything is owed anew.
    pub fn owe_all_vectors(&self) -> Result<(), StoreError> {
        self.tx.execute(
            "INSERT INTO vector_backlog (kind, row_id, at)
             SELECT kind, row_id, created_at_epoch FROM texts WHERE true
             ON CONFLICT DO NOTHING",
            [],
        )?;
        Ok(())
    }

    /// Takes a row off the list. If its text has changed or gone meanwhile, it is owed again:
    /// whoever else settled that may have done so before the vectors of the old text came.
    pub fn settle_vectors(&self, settled: &Owed) -> Result<bool, StoreError> {
        let Owed { kind, row_id, text } = *settled;
        let now = self.owed_text(kind, row_id)?;
        if now != text {
            let at = now.map_or(Millis(i64::MAX), |now| now.created_at);
            self.owe_vectors(kind, row_id, at)?;
            return Ok(false);
        }
        self.tx
            .prepare_cached("DELETE FROM vector_backlog WHERE kind = ?1 AND row_id = ?2")?
            .execute(params![kind, row_id])?;
        Ok(true)
    }
}
