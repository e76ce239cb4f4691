//! Retention: data that grows with every session and is useless after a while.
//!
//! Each deletion is limited to a few rows, so that hooks do not wait long for the write lock. Call
//! it until it deletes fewer than the limit.

use rusqlite::params;

use super::{StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn};
use claude_mem_core::clock::Millis;

/// A session, as far as privacy marks and transcripts are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedSession {
    pub client: String,
    pub session: String,
    pub transcript_path: Option<String>,
    pub last_activity: Millis,
    /// The transcript must never be read, whatever the privacy marks say.
    pub is_closed: bool,
}

impl StoreReader<'_> {
    /// All sessions.
    pub fn tracked_sessions(&self) -> Result<Vec<TrackedSession>, StoreError> {
        let mut statement = self.0.prepare_cached(
            "SELECT client, content_session_id, transcript_path, last_activity_epoch, transcript_closed FROM sdk_sessions",
        )?;
        let rows = statement.query_map([], |row| {
            Ok(TrackedSession {
                client: row.get(0)?,
                session: row.get(1)?,
                transcript_path: row.get(2)?,
                last_activity: row.column(3)?,
                is_closed: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The client's prompt ids of a session.
    pub fn prompt_ids(&self, client: &str, session: &str) -> Result<Vec<String>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT p.prompt_id FROM user_prompts AS p JOIN sdk_sessions AS s ON s.id = p.session_id
             WHERE s.client = ?1 AND s.content_session_id = ?2 AND p.prompt_id IS NOT NULL",
        )?;
        let ids = rows.query_map([client, session], |row| row.get(0))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    /// Old ledger entries that only record that a memory was shown. Judgements stay.
    pub fn expired_feedback_ids(&self, before: Millis, rows_max: u32) -> Result<Vec<i64>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT id FROM observation_feedback WHERE created_at_epoch < ?1 AND signal IN ('injected', 'fetched')
             ORDER BY id LIMIT ?2",
        )?;
        let ids = rows.query_map(params![before.sql(), rows_max], |row| row.get(0))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    /// Transcripts that were last read before `before`.
    pub fn transcripts_read_before(&self, before: Millis) -> Result<Vec<String>, StoreError> {
        let mut rows =
            self.0.prepare_cached("SELECT path FROM transcript_positions WHERE updated_at_epoch < ?1")?;
        let paths = rows.query_map([before.sql()], |row| row.get(0))?;
        Ok(paths.collect::<Result<_, _>>()?)
    }
}

impl StoreWriter<'_> {
    /// Deletes ledger entries by id.
    pub fn delete_feedback(&self, ids: &[i64]) -> Result<(), StoreError> {
        let mut delete = self.tx.prepare_cached("DELETE FROM observation_feedback WHERE id = ?1")?;
        for id in ids {
            delete.execute([id])?;
        }
        Ok(())
    }

    /// Deletes the reading positions of transcripts that are gone.
    pub fn drop_transcript_positions(&self, paths: &[String]) -> Result<(), StoreError> {
        let mut delete = self.tx.prepare_cached("DELETE FROM transcript_positions WHERE path = ?1")?;
        for path in paths {
            delete.execute([path])?;
        }
        Ok(())
    }

    /// Deletes up to `rows_max` compaction times from before `before`.
    pub fn drop_compactions_before(&self, before: Millis, rows_max: u32) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "DELETE FROM meta WHERE key IN (SELECT key FROM meta WHERE key >= 'compacted:' AND key < 'compacted;'
             AND CAST(value AS INTEGER) < ?1 LIMIT ?2)",
            params![before.sql(), rows_max],
        )?)
    }

    /// Deletes up to `rows_max` spend rows from before `before`.
    pub fn drop_spend_before(&self, before: Millis, rows_max: u32) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "DELETE FROM spend WHERE id IN (SELECT id FROM spend WHERE created_at_epoch < ?1 LIMIT ?2)",
            params![before.sql(), rows_max],
        )?)
    }
}
