//! What grows with every session and is of no use after a while.
//!
//! Each sweep takes a few rows, so that hooks need not wait for all of them, and is called until
//! fewer go than it may.

use rusqlite::params;

use super::{Reads, StoreError, Writes};
use crate::clock::Millis;

/// A session as far as its marks and its transcript are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    pub client: String,
    pub session: String,
    pub transcript_path: Option<String>,
    pub last_activity: Millis,
    /// Its transcript is never read, whatever marks say.
    pub is_closed: bool,
}

impl Reads<'_> {
    pub fn remembered_sessions(&self) -> Result<Vec<Remembered>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT client, content_session_id, transcript_path, last_activity_epoch, transcript_closed FROM sdk_sessions",
        )?;
        let rows = rows.query_map([], |row| {
            Ok(Remembered {
                client: row.get(0)?,
                session: row.get(1)?,
                transcript_path: row.get(2)?,
                last_activity: row.get(3)?,
                is_closed: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The ids that a client gave to the prompts of a session.
    pub fn prompt_ids(&self, client: &str, session: &str) -> Result<Vec<String>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT p.prompt_id FROM user_prompts AS p JOIN sdk_sessions AS s ON s.id = p.session_id
             WHERE s.client = ?1 AND s.content_session_id = ?2 AND p.prompt_id IS NOT NULL",
        )?;
        let ids = rows.query_map([client, session], |row| row.get(0))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    /// Entries of the ledger that say no more than that something was shown. Judgements stay.
    pub fn old_showings(&self, before: Millis, rows_max: u32) -> Result<Vec<i64>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT id FROM observation_feedback WHERE created_at_epoch < ?1 AND signal IN ('injected', 'fetched')
             ORDER BY id LIMIT ?2",
        )?;
        let ids = rows.query_map(params![before, rows_max], |row| row.get(0))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    /// Transcripts that were last read before `before`.
    pub fn transcripts_read_before(&self, before: Millis) -> Result<Vec<String>, StoreError> {
        let mut rows = self
            .0
            .prepare_cached("SELECT path FROM transcript_positions WHERE updated_at_epoch < ?1")?;
        let paths = rows.query_map([before], |row| row.get(0))?;
        Ok(paths.collect::<Result<_, _>>()?)
    }
}

impl Writes<'_> {
    pub fn drop_showings(&self, ids: &[i64]) -> Result<(), StoreError> {
        let mut delete = self
            .tx
            .prepare_cached("DELETE FROM observation_feedback WHERE id = ?1")?;
        for id in ids {
            delete.execute([id])?;
        }
        Ok(())
    }

    /// Of transcripts that are gone.
    pub fn drop_transcript_positions(&self, paths: &[String]) -> Result<(), StoreError> {
        let mut delete = self
            .tx
            .prepare_cached("DELETE FROM transcript_positions WHERE path = ?1")?;
        for path in paths {
            delete.execute([path])?;
        }
        Ok(())
    }

    pub fn drop_compactions_before(
        &self,
        before: Millis,
        rows_max: u32,
    ) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "DELETE FROM meta WHERE key IN (SELECT key FROM meta WHERE key >= 'compacted:' AND key < 'compacted;'
             AND CAST(value AS INTEGER) < ?1 LIMIT ?2)",
            params![before, rows_max],
        )?)
    }

    pub fn drop_spend_before(&self, before: Millis, rows_max: u32) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "DELETE FROM spend WHERE id IN (SELECT id FROM spend WHERE created_at_epoch < ?1 LIMIT ?2)",
            params![before, rows_max],
        )?)
    }
}
