//! How the memories that sessions received were used, from the feedback ledger.

use rusqlite::params;

use super::{FeedbackSignal, RowId, StoreError, StoreReader};
use crate::columns::{ReadColumn, SqlColumn};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ObservationId, ProjectId};

/// One row's entries of one signal in one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageEntry {
    pub row: RowId,
    pub session: String,
    pub signal: FeedbackSignal,
    pub count: u64,
    pub tokens: u64,
    pub last_at: Millis,
}

/// A file, and how many memories refer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileUsage {
    pub path: String,
    pub memories: u64,
    pub edited: u64,
    pub last_at: Millis,
}

/// Sorted by an expression: in the order of ids, SQLite would scan the whole table for the few replaced ones.
const REPLACED_SQL: &str = "SELECT id FROM observations
     WHERE replaced_by IS NOT NULL AND (?1 IS NULL OR project_id = ?1) ORDER BY +id DESC LIMIT ?2";

/// A condition that may be switched off would keep SQLite from the index of the project.
fn unused_sql(has_project: bool) -> String {
    let which = if has_project { "project_id = ?2" } else { "?2 IS NULL" };
    format!(
        "SELECT id FROM observations AS o
         WHERE {which} AND created_at_epoch < ?1 AND pinned = 0 AND level = 'project'
           AND NOT EXISTS (SELECT 1 FROM observation_feedback AS f WHERE f.kind = 'observation' AND f.row_id = o.id
             AND f.signal IN ('fetched', 'cited', 'useful') AND f.created_at_epoch >= ?1)
           AND NOT EXISTS (SELECT 1 FROM review_decisions AS r WHERE r.observation_id = o.id AND r.reason = 'unused')
         ORDER BY created_at_epoch, id LIMIT ?3"
    )
}

impl StoreReader<'_> {
    /// Counts of injected, fetched and cited memories since a time.
    pub fn usage_since(&self, since: Millis) -> Result<Vec<UsageEntry>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT kind, row_id, session, signal, count(*), sum(tokens), max(created_at_epoch)
             FROM observation_feedback
             WHERE created_at_epoch >= ?1 AND signal IN ('injected', 'fetched', 'cited')
             GROUP BY kind, row_id, session, signal",
        )?;
        let rows = rows.query_map([since.sql()], |row| {
            Ok(UsageEntry {
                row: RowId::from_columns(row, 0)?,
                session: row.get(2)?,
                signal: FeedbackSignal::from_column(row.get_ref(3)?.as_str()?),
                count: row.get(4)?,
                tokens: row.get(5)?,
                last_at: row.column(6)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Observations created before `before` that were neither fetched nor cited since, oldest first.
    /// Pinned ones, preferences and those that a person keeps are left out.
    pub fn unused_observations(
        &self,
        project: Option<ProjectId>,
        before: Millis,
        limit: u32,
    ) -> Result<Vec<ObservationId>, StoreError> {
        let mut rows = self.0.prepare_cached(&unused_sql(project.is_some()))?;
        let rows = rows.query_map(params![before.sql(), project.sql(), limit], |row| row.column(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Observations that a newer one replaced, newest first.
    pub fn replaced_observations(
        &self,
        project: Option<ProjectId>,
        limit: u32,
    ) -> Result<Vec<ObservationId>, StoreError> {
        let mut rows = self.0.prepare_cached(REPLACED_SQL)?;
        let rows = rows.query_map(params![project.sql(), limit], |row| row.column(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The observations that this one replaced, newest first.
    pub fn observations_replaced_by(&self, id: ObservationId) -> Result<Vec<ObservationId>, StoreError> {
        let mut rows =
            self.0.prepare_cached("SELECT id FROM observations WHERE replaced_by = ?1 ORDER BY id DESC")?;
        let rows = rows.query_map([id.sql()], |row| row.column(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The files that most observations of a project refer to.
    pub fn files_of_project(&self, project: ProjectId, limit: u32) -> Result<Vec<FileUsage>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT path, count(*), sum(modified), max(created_at_epoch) FROM file_refs
             WHERE project_id = ?1 AND kind = 'observation' GROUP BY path ORDER BY 2 DESC, 4 DESC, 1 LIMIT ?2",
        )?;
        let rows = rows.query_map(params![project.sql(), limit], |row| {
            Ok(FileUsage {
                path: row.get(0)?,
                memories: row.get(1)?,
                edited: row.get(2)?,
                last_at: row.column(3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn lists_of_the_review_read_no_whole_table() {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::open(&temp.path().join("claude-mem.db")).unwrap();
        let reads = store.read();
        for (sql, index) in [
            (REPLACED_SQL, "USING INDEX observations_replaced"),
            (&unused_sql(true), "USING INDEX observations_by_project (project_id=? AND created_at_epoch<?)"),
            (&unused_sql(false), "USING INDEX observations_by_time (created_at_epoch<?)"),
        ] {
            let plan = reads.query_plan(sql);
            assert!(plan.contains(index) && !plan.contains("SCAN"), "{plan}");
        }
    }
}
