//! Retention: data that grows with every session and is useless after a while.
//!
//! Each deletion is limited to a few rows, so that hooks do not wait long for the write lock. Call
//! it until it deletes fewer than the limit.

use rusqlite::params;

use super::{RowId, RowKind, StoreError, StoreReader, StoreWriter};
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

impl StoreReader<'_> {
    /// Up to `rows_max` memories from before `before` that nobody has used since: not pinned, not a preference,
    /// and neither fetched, cited nor marked as useful.
    pub fn unused_memories_before(&self, before: Millis, rows_max: u32) -> Result<Vec<RowId>, StoreError> {
        let mut found = Vec::new();
        for kind in [RowKind::Observation, RowKind::Summary, RowKind::Message, RowKind::Account] {
            let is_kept = match kind {
                RowKind::Observation => "pinned = 1 OR level = 'user'",
                _ => "0",
            };
            let sql = format!(
                "SELECT id FROM {} AS r WHERE created_at_epoch < ?1 AND NOT ({is_kept}) AND NOT EXISTS (
                   SELECT 1 FROM observation_feedback AS f WHERE f.kind = ?2 AND f.row_id = r.id
                   AND f.created_at_epoch >= ?1 AND f.signal IN ('fetched', 'cited', 'useful'))
                 ORDER BY created_at_epoch LIMIT ?3",
                kind.table()
            );
            let left = rows_max.saturating_sub(found.len() as u32);
            let mut rows = self.0.prepare_cached(&sql)?;
            let ids = rows.query_map(params![before.sql(), kind, left], |row| row.get(0))?;
            for id in ids {
                found.push(RowId::new(kind, id?));
            }
        }
        Ok(found)
    }
}

impl StoreWriter<'_> {
    /// Forgets up to `rows_max` memories from before `before` that nobody has used since. Like others that were
    /// forgotten, they can be restored for a while.
    pub fn forget_unused_before(
        &self,
        before: Millis,
        rows_max: u32,
        now: Millis,
    ) -> Result<usize, StoreError> {
        let rows = self.unused_memories_before(before, rows_max)?;
        for row in &rows {
            self.forget(*row, now)?;
        }
        Ok(rows.len())
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{observation, scratch};
    use crate::{
        FeedbackSignal, MemoryLevel, NewFeedback, NewRowContext, ObservationEdit, PageRequest, RowFilter,
        Store,
    };

    #[test]
    fn memories_that_nobody_used_are_forgotten_and_can_be_restored() {
        let scratch = scratch();
        scratch.dir.create().unwrap();
        let mut store = Store::open(&scratch.dir.db()).unwrap();
        let (old, new, now) = (Millis(10), Millis(90), Millis(100));
        let unused = store
            .write(|tx| {
                let save = |title: &str, at, level| {
                    let meta = NewRowContext { level, ..NewRowContext::default() };
                    tx.create_observation(&observation(title, at), &meta)
                };
                let unused = save("old and unused", old, MemoryLevel::Project)?;
                let pinned = save("old and pinned", old, MemoryLevel::Project)?;
                let edit = ObservationEdit { pinned: Some(true), ..ObservationEdit::default() };
                tx.edit_observation(pinned, &edit, old)?;
                save("old preference", old, MemoryLevel::User)?;
                save("new", new, MemoryLevel::Project)?;
                let fetched = save("old and fetched", old, MemoryLevel::Project)?;
                tx.record_feedback(&NewFeedback {
                    kind: RowKind::Observation,
                    row_id: fetched.0,
                    client: "claude-code",
                    session: "s",
                    agent_id: "",
                    signal: FeedbackSignal::Fetched,
                    place: "mcp",
                    score: None,
                    rank: None,
                    tokens: 1,
                    reason: "",
                    at: new,
                })?;
                Ok(RowId::new(RowKind::Observation, unused.0))
            })
            .unwrap();
        let titles = |store: &Store| {
            let all = store.read().observations(&RowFilter::default(), PageRequest::first(10)).unwrap();
            let mut titles: Vec<String> = all.items.into_iter().map(|row| row.text.title).collect();
            titles.sort();
            titles
        };
        let forgotten = store.write(|tx| tx.forget_unused_before(Millis(50), 10, now)).unwrap();
        assert_eq!(forgotten, 1);
        assert_eq!(titles(&store), ["new", "old and fetched", "old and pinned", "old preference"]);
        assert!(store.write(|tx| tx.undo_forget(unused)).unwrap());
        assert_eq!(titles(&store).len(), 5);
    }
}
