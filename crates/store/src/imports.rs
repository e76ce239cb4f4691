//! Import runs, which can be undone as a whole.

use rusqlite::{OptionalExtension, Row, params};
use serde::{Serialize, Serializer};

use super::{StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn, name_column, path_column, state_column};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ObservationId, PublicId, SessionId};

/// One run of an importer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImportRun {
    pub id: i64,
    pub kind: String,
    pub source: String,
    pub started_at: Millis,
    pub finished_at: Option<Millis>,
    /// Counts, as JSON.
    #[serde(serialize_with = "as_it_is")]
    pub report: String,
    /// How many rows of this run exist now.
    pub rows: u64,
}

/// Progress of undoing a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndoProgress {
    pub rows: usize,
    /// All rows of the run are removed.
    pub done: bool,
}

/// Serialises the stored JSON as JSON and not as a string.
fn as_it_is<S: Serializer>(report: &str, to: S) -> Result<S::Ok, S::Error> {
    match serde_json::from_str::<serde_json::Value>(report) {
        Ok(report) => report.serialize(to),
        Err(_) => report.serialize(to),
    }
}

fn import_run(row: &Row<'_>) -> rusqlite::Result<ImportRun> {
    Ok(ImportRun {
        id: row.get(0)?,
        kind: row.get(1)?,
        source: row.get(2)?,
        started_at: row.column(3)?,
        finished_at: row.column(4)?,
        report: row.get(5)?,
        rows: 0,
    })
}

impl StoreReader<'_> {
    /// Whether an import of this kind from this source was completed.
    pub fn is_imported(&self, kind: &str, source: &str) -> Result<bool, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT 1 FROM import_runs WHERE kind = ?1 AND source = ?2 AND finished_at_epoch IS NOT NULL LIMIT 1",
        )?;
        Ok(rows.exists([kind, source])?)
    }

    /// All runs, newest first.
    pub fn import_runs(&self) -> Result<Vec<ImportRun>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT id, kind, source, started_at_epoch, finished_at_epoch, report FROM import_runs ORDER BY id DESC",
        )?;
        let mut runs: Vec<ImportRun> = rows.query_map([], import_run)?.collect::<Result<_, _>>()?;
        for run in &mut runs {
            run.rows = self.count_import_rows(run.id)?;
        }
        Ok(runs)
    }
}

/// The tables that an import may add to, sessions aside.
const ROWS: [&str; 6] =
    ["observations", "session_summaries", "user_prompts", "final_messages", "session_accounts", "open_items"];

impl StoreReader<'_> {
    /// The kind of import that a session came from. `None`: it was recorded here.
    pub fn import_kind_of_session(&self, id: SessionId) -> Result<Option<String>, StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT r.kind FROM sdk_sessions AS s JOIN import_runs AS r ON r.id = s.import_run WHERE s.id = ?1",
            )?
            .query_row([id.sql()], |row| row.get(0))
            .optional()?)
    }

    /// How many rows of this run exist, sessions included.
    pub fn count_import_rows(&self, id: i64) -> Result<u64, StoreError> {
        let mut rows = 0;
        for table in ROWS.into_iter().chain(["sdk_sessions"]) {
            let sql = format!("SELECT count(*) FROM {table} WHERE import_run = ?1");
            rows += self.0.query_row(&sql, [id], |row| row.get::<_, u64>(0))?;
        }
        Ok(rows + self.count_session_snapshots(id)?)
    }
}

impl StoreWriter<'_> {
    /// Creates a run and returns its id.
    pub fn start_import(&self, kind: &str, source: &str, at: Millis) -> Result<i64, StoreError> {
        self.tx.execute(
            "INSERT INTO import_runs (uid, kind, source, started_at_epoch) VALUES (?1, ?2, ?3, ?4)",
            params![PublicId::new().sql(), name_column(kind), path_column(source), at.sql()],
        )?;
        Ok(self.tx.last_insert_rowid())
    }

    /// Continues the unfinished run of this kind and source, or starts a new one.
    pub fn resume_import(&self, kind: &str, source: &str, at: Millis) -> Result<i64, StoreError> {
        let unfinished = self
            .tx
            .query_row(
                "SELECT id FROM import_runs WHERE kind = ?1 AND source = ?2 AND finished_at_epoch IS NULL
                 ORDER BY id DESC LIMIT 1",
                params![kind, source],
                |row| row.get(0),
            )
            .optional()?;
        match unfinished {
            Some(id) => Ok(id),
            None => self.start_import(kind, source, at),
        }
    }

    /// Marks a run as finished and stores its report.
    pub fn finish_import(&self, id: i64, report: &str, at: Millis) -> Result<(), StoreError> {
        self.tx.execute(
            "UPDATE import_runs SET finished_at_epoch = ?2, report = ?3 WHERE id = ?1",
            params![id, at.sql(), state_column(report)],
        )?;
        Ok(())
    }

    /// Deletes up to `rows_max` rows of the run, so that hooks do not wait long for the write lock.
    /// Call it until it is done; then the run itself is deleted.
    pub fn undo_import(&self, id: i64, rows_max: u32) -> Result<UndoProgress, StoreError> {
        if let Some(rows) = self.restore_next_snapshot(id)? {
            return Ok(UndoProgress { rows, done: false });
        }
        self.keep_shared_observations(id)?;
        for table in ROWS {
            let sql = format!(
                "DELETE FROM {table} WHERE id IN (SELECT id FROM {table} WHERE import_run = ?1 LIMIT ?2)"
            );
            let gone = self.tx.execute(&sql, params![id, rows_max])?;
            if gone > 0 {
                return Ok(UndoProgress { rows: gone, done: false });
            }
        }
        let rows = self.undo_sessions(id)?;
        let runs = self.tx.execute("DELETE FROM import_runs WHERE id = ?1", [id])?;
        match runs {
            0 => Err(StoreError::NoSuchRow { what: "import run", id }),
            _ => Ok(UndoProgress { rows, done: true }),
        }
    }

    /// Hands observations of the run that other sessions said too over to one of these sessions.
    fn keep_shared_observations(&self, run: i64) -> Result<(), StoreError> {
        let mut shared = self.tx.prepare_cached(
            "SELECT o.id, o.session_id FROM observations AS o WHERE o.import_run = ?1 AND EXISTS (
               SELECT 1 FROM observation_sources AS also JOIN sdk_sessions AS s ON s.id = also.session_id
               WHERE also.observation_id = o.id AND s.import_run IS NOT ?1)",
        )?;
        let rows = shared.query_map([run], |row| {
            Ok((row.column::<ObservationId>(0)?, row.column::<Option<SessionId>>(1)?))
        })?;
        for (id, session) in rows.collect::<Result<Vec<_>, _>>()? {
            if let Some(session) = session {
                self.remove_observation_source(id, session)?;
            }
            self.tx.execute("UPDATE observations SET import_run = NULL WHERE id = ?1", [id.sql()])?;
        }
        Ok(())
    }

    /// Deletes the run's sessions. A session that has later rows or queued events stays. The
    /// transcripts of the deleted ones count as unread.
    fn undo_sessions(&self, id: i64) -> Result<usize, StoreError> {
        self.tx.execute("DELETE FROM session_claims WHERE import_run = ?1", [id])?;
        self.tx.execute(
            "UPDATE sdk_sessions SET import_run = NULL WHERE import_run = ?1 AND (
               EXISTS (SELECT 1 FROM observations AS r WHERE r.session_id = sdk_sessions.id)
               OR EXISTS (SELECT 1 FROM session_summaries AS r WHERE r.session_id = sdk_sessions.id)
               OR EXISTS (SELECT 1 FROM user_prompts AS r WHERE r.session_id = sdk_sessions.id)
               OR EXISTS (SELECT 1 FROM final_messages AS r WHERE r.session_id = sdk_sessions.id)
               OR EXISTS (SELECT 1 FROM pending_messages AS q
                 WHERE q.client = sdk_sessions.client AND q.session = sdk_sessions.content_session_id))",
            [id],
        )?;
        self.tx.execute(
            "DELETE FROM transcript_positions WHERE EXISTS (SELECT 1 FROM sdk_sessions AS s WHERE s.import_run = ?1
               AND s.client = transcript_positions.client AND s.content_session_id = transcript_positions.session)",
            [id],
        )?;
        Ok(self.tx.execute("DELETE FROM sdk_sessions WHERE import_run = ?1", [id])?)
    }
}
