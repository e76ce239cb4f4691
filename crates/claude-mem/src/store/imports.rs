//! Import runs, so that one can be undone as a whole.

use rusqlite::{Row, params};
use serde::Serialize;

use super::{Reads, StoreError, Writes};
use crate::clock::Millis;
use crate::ids::PublicId;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImportRun {
    pub id: i64,
    pub kind: String,
    pub source: String,
    pub started_at: Millis,
    pub finished_at: Option<Millis>,
    /// Counts, as JSON.
    pub report: String,
}

fn run(row: &Row<'_>) -> rusqlite::Result<ImportRun> {
    Ok(ImportRun {
        id: row.get(0)?,
        kind: row.get(1)?,
        source: row.get(2)?,
        started_at: row.get(3)?,
        finished_at: row.get(4)?,
        report: row.get(5)?,
    })
}

impl Reads<'_> {
    /// Newest first.
    pub fn import_runs(&self) -> Result<Vec<ImportRun>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT id, kind, source, started_at_epoch, finished_at_epoch, report FROM import_runs ORDER BY id DESC",
        )?;
        Ok(rows.query_map([], run)?.collect::<Result<_, _>>()?)
    }
}

impl Writes<'_> {
    pub fn start_import(&self, kind: &str, source: &str, at: Millis) -> Result<i64, StoreError> {
        self.tx.execute(
            "INSERT INTO import_runs (uid, kind, source, started_at_epoch) VALUES (?1, ?2, ?3, ?4)",
            params![PublicId::new(), kind, source, at],
        )?;
        Ok(self.tx.last_insert_rowid())
    }

    pub fn finish_import(&self, id: i64, report: &str, at: Millis) -> Result<(), StoreError> {
        self.tx.execute(
            "UPDATE import_runs SET finished_at_epoch = ?2, report = ?3 WHERE id = ?1",
            params![id, at, report],
        )?;
        Ok(())
    }

    /// Takes back every row that the run brought in. Returns how many.
    pub fn undo_import(&self, id: i64) -> Result<usize, StoreError> {
        let mut gone = 0;
        for table in [
            "observations",
            "session_summaries",
            "user_prompts",
            "final_messages",
            "sdk_sessions",
        ] {
            gone += self
                .tx
                .execute(&format!("DELETE FROM {table} WHERE import_run = ?1"), [id])?;
        }
        if self
            .tx
            .execute("DELETE FROM import_runs WHERE id = ?1", [id])?
            == 0
        {
            return Err(StoreError::NoSuchRow {
                what: "import run",
                id,
            });
        }
        Ok(gone)
    }
}
