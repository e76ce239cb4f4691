//! The embedding backlog: rows whose vectors must be made, remade or removed.
//!
//! It is in the main database and therefore durable: a killed worker continues where it stopped.

use rusqlite::{OptionalExtension, params};

use super::{RowId, RowKind, StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ProjectId;

/// A row whose vectors are missing or stale, or a deleted row whose vectors must be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingEmbedding {
    pub kind: RowKind,
    pub row_id: i64,
    /// The row's current text; `None` if there is nothing to embed any more.
    pub text: Option<EmbeddableText>,
}

/// Identifies the text that a row's vectors must be made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddableText {
    pub text_hash: i64,
    pub project: Option<ProjectId>,
    pub created_at: Millis,
}

/// How much of the vector index is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexCoverage {
    /// Rows that can have vectors.
    pub rows: u64,
    /// Rows whose vectors are missing or stale.
    pub waiting: u64,
}

impl IndexCoverage {
    /// Fewer waiting rows than this are not worth a message: the worker needs seconds for them.
    const WAITING_MIN: u64 = 100;

    /// Whether so many rows lack vectors that a search by meaning may miss something: at least one in
    /// twenty.
    pub fn is_noticeably_incomplete(self) -> bool {
        self.waiting >= Self::WAITING_MIN && self.waiting * 20 >= self.rows
    }
}

/// Added to the priority of a pinned row: pinned rows come before all others, the newest first, and
/// after removals.
const PINNED_PRIORITY_MS: i64 = 1 << 52;

/// The priority of a removal.
const REMOVAL_PRIORITY: i64 = i64::MAX;

/// The priority of a row of `texts` in the backlog.
fn priority_sql() -> String {
    format!(
        "created_at_epoch + CASE WHEN kind = 'observation' AND row_id IN
           (SELECT id FROM observations WHERE pinned = 1) THEN {PINNED_PRIORITY_MS} ELSE 0 END"
    )
}

const EMBEDDABLE_TEXT: &str =
    "SELECT text_hash, project_id, created_at_epoch FROM texts INDEXED BY texts_to_embed
    WHERE kind = ?1 AND row_id = ?2";

impl StoreReader<'_> {
    /// The next rows: removals first, then pinned rows, then the others; the newest first.
    pub fn pending_embeddings(&self, limit: usize) -> Result<Vec<PendingEmbedding>, StoreError> {
        let mut statement =
            self.0.prepare_cached("SELECT kind, row_id FROM vector_backlog ORDER BY at DESC LIMIT ?1")?;
        let owed = statement
            .query_map([limit], |row| RowId::from_columns(row, 0))?
            .collect::<Result<Vec<RowId>, _>>()?;
        owed.into_iter()
            .map(|row| {
                let text = self.embeddable_text(row)?;
                Ok(PendingEmbedding { kind: row.kind, row_id: row.row_id, text })
            })
            .collect()
    }

    /// The text that a row's vectors must be made from; `None` if the row has none.
    pub fn embeddable_text(
        &self,
        RowId { kind, row_id }: RowId,
    ) -> Result<Option<EmbeddableText>, StoreError> {
        Ok(self
            .0
            .prepare_cached(EMBEDDABLE_TEXT)?
            .query_row(params![kind, row_id], |row| {
                Ok(EmbeddableText {
                    text_hash: row.get(0)?,
                    project: row.column(1)?,
                    created_at: row.column(2)?,
                })
            })
            .optional()?)
    }

    /// The size of the backlog.
    pub fn pending_embeddings_count(&self) -> Result<u64, StoreError> {
        Ok(self.0.prepare_cached("SELECT count(*) FROM vector_backlog")?.query_row([], |row| row.get(0))?)
    }

    /// How much of the vector index is complete. Removals of deleted rows wait in the backlog, too, and are not
    /// counted.
    pub fn index_coverage(&self) -> Result<IndexCoverage, StoreError> {
        let mut rows = self.0.prepare_cached("SELECT count(*) FROM texts INDEXED BY texts_to_embed")?;
        let mut waiting = self.0.prepare_cached("SELECT count(*) FROM vector_backlog WHERE at < ?1")?;
        Ok(IndexCoverage {
            rows: rows.query_row([], |row| row.get(0))?,
            waiting: waiting.query_row([REMOVAL_PRIORITY], |row| row.get(0))?,
        })
    }

    /// The coverage, if so many rows lack vectors that a search by meaning may miss something.
    pub fn noticeable_index_gap(&self) -> Result<Option<IndexCoverage>, StoreError> {
        // Counting all rows takes milliseconds, so the few that wait are counted first.
        if self.pending_embeddings_count()? < IndexCoverage::WAITING_MIN {
            return Ok(None);
        }
        Ok(Some(self.index_coverage()?).filter(|coverage| coverage.is_noticeably_incomplete()))
    }

    /// Calls `take` for every row that can have vectors.
    pub fn for_each_embeddable(&self, mut take: impl FnMut(RowId, EmbeddableText)) -> Result<(), StoreError> {
        let mut statement = self.0.prepare_cached(
            "SELECT kind, row_id, text_hash, project_id, created_at_epoch
             FROM texts INDEXED BY texts_to_embed",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let text = EmbeddableText {
                text_hash: row.get(2)?,
                project: row.column(3)?,
                created_at: row.column(4)?,
            };
            take(RowId::from_columns(row, 0)?, text);
        }
        Ok(())
    }
}

impl StoreWriter<'_> {
    /// Adds a row to the backlog. `at` is its priority: larger goes first, and a pinned row before
    /// those that are not.
    pub fn enqueue_embedding(&self, row: RowId, at: Millis) -> Result<(), StoreError> {
        let pinned = row.kind == RowKind::Observation
            && self
                .tx
                .prepare_cached("SELECT 1 FROM observations WHERE id = ?1 AND pinned = 1")?
                .exists([row.row_id])?;
        let at = if pinned { at.0.saturating_add(PINNED_PRIORITY_MS) } else { at.0 };
        self.enqueue_with_priority(row, at)
    }

    fn enqueue_with_priority(&self, RowId { kind, row_id }: RowId, priority: i64) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO vector_backlog (kind, row_id, at) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET at = excluded.at",
            )?
            .execute(params![kind, row_id, priority])?;
        Ok(())
    }

    /// Queues the removal of a deleted row's vectors, with the highest priority.
    pub fn enqueue_vector_removal(&self, row: RowId) -> Result<(), StoreError> {
        self.enqueue_with_priority(row, REMOVAL_PRIORITY)
    }

    /// Queues every row of a project.
    pub(super) fn enqueue_project_embeddings(&self, project: ProjectId) -> Result<(), StoreError> {
        self.tx.execute(
            &format!(
                "INSERT INTO vector_backlog (kind, row_id, at)
                 SELECT kind, row_id, {} FROM texts WHERE project_id = ?1
                 ON CONFLICT DO NOTHING",
                priority_sql()
            ),
            [project.sql()],
        )?;
        Ok(())
    }

    /// Queues every row.
    pub fn enqueue_all_embeddings(&self) -> Result<(), StoreError> {
        self.tx.execute(
            &format!(
                "INSERT INTO vector_backlog (kind, row_id, at)
                 SELECT kind, row_id, {} FROM texts WHERE true
                 ON CONFLICT DO NOTHING",
                priority_sql()
            ),
            [],
        )?;
        Ok(())
    }

    /// Removes a row from the backlog and returns true, unless its text has changed meanwhile. Then
    /// it is queued again and false is returned: another worker may have acknowledged the new text
    /// before the vectors of the old one were written.
    pub fn ack_embedding(&self, settled: &PendingEmbedding) -> Result<bool, StoreError> {
        let PendingEmbedding { kind, row_id, text } = *settled;
        let now = self.embeddable_text(RowId::new(kind, row_id))?;
        if now != text {
            let at = now.map_or(Millis(REMOVAL_PRIORITY), |now| now.created_at);
            self.enqueue_embedding(RowId::new(kind, row_id), at)?;
            return Ok(false);
        }
        self.tx
            .prepare_cached("DELETE FROM vector_backlog WHERE kind = ?1 AND row_id = ?2")?
            .execute(params![kind, row_id])?;
        Ok(true)
    }
}
