//! [`IndexRow`]: a row reduced to what the session-start index needs to rank and show it.

use rusqlite::types::Value;
use rusqlite::{Row, params, params_from_iter};
use serde::Serialize;

use super::{RowKind, StoreError, StoreReader};
use crate::columns::{JsonList, ReadColumn, SqlColumn, read_origin};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{MemberRowId, ProjectId, SessionId};
use claude_mem_core::memory::Origin;

/// The fields of a row for one index line and its score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexRow {
    pub kind: RowKind,
    pub row_id: i64,
    /// Empty for a summary.
    pub observation_type: String,
    pub title: String,
    pub session: Option<SessionId>,
    pub branch: Option<String>,
    pub concepts: Vec<String>,
    pub files: Vec<String>,
    pub pinned: bool,
    pub read_tokens: u32,
    pub discovery_tokens: u32,
    pub created_at: Millis,
    pub origin: Origin,
    /// How often it was fetched, cited or marked useful.
    pub used: u32,
    /// How often it was marked useless.
    pub useless: u32,
    /// How many sessions said it.
    pub sources: u32,
    /// The member of the team who recorded it; `None` for the user's own rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberRowId>,
}

/// Callers exclude observations that are wrong or replaced.
const OBSERVATIONS: &str = "SELECT 'observation', o.id, o.type, o.title, o.session_id, o.branch, o.concepts,
      o.files_modified, o.pinned, o.read_tokens, o.discovery_tokens, o.created_at_epoch,
      (SELECT count(*) FROM observation_feedback AS f WHERE f.kind = 'observation' AND f.row_id = o.id
         AND f.signal IN ('fetched', 'cited', 'useful')),
      (SELECT count(*) FROM observation_feedback AS f WHERE f.kind = 'observation' AND f.row_id = o.id
         AND f.signal = 'useless'), o.origin, o.source_count, o.member
    FROM observations AS o";

fn index_row(row: &Row<'_>) -> rusqlite::Result<IndexRow> {
    Ok(IndexRow {
        kind: row.get(0)?,
        row_id: row.get(1)?,
        observation_type: row.get(2)?,
        title: row.get(3)?,
        session: row.column(4)?,
        branch: row.get(5)?,
        concepts: row.get::<_, JsonList>(6)?.0,
        files: row.get::<_, JsonList>(7)?.0,
        pinned: row.get(8)?,
        read_tokens: row.get(9)?,
        discovery_tokens: row.get(10)?,
        created_at: row.column(11)?,
        used: row.get(12)?,
        useless: row.get(13)?,
        origin: read_origin(row, 14)?,
        sources: row.get(15)?,
        member: row.column(16)?,
    })
}

impl StoreReader<'_> {
    /// The newest offerable own observations of a project, newest first.
    pub fn recent_index_rows(&self, project: ProjectId, limit: u32) -> Result<Vec<IndexRow>, StoreError> {
        let sql = format!(
            "{OBSERVATIONS} WHERE o.project_id = ?1 AND o.wrong = 0 AND o.replaced_by IS NULL AND o.level <> 'user'
               AND o.member IS NULL
             ORDER BY o.created_at_epoch DESC LIMIT ?2"
        );
        let mut rows = self.0.prepare_cached(&sql)?;
        Ok(rows.query_map(params![project.sql(), limit], index_row)?.collect::<Result<_, _>>()?)
    }

    /// Own observations that stay important at any age: pinned ones and decisions.
    pub fn lasting_index_rows(&self, project: ProjectId, limit: u32) -> Result<Vec<IndexRow>, StoreError> {
        let sql = format!(
            "{OBSERVATIONS} WHERE o.project_id = ?1 AND (o.pinned = 1 OR o.type = 'decision') AND o.wrong = 0
             AND o.replaced_by IS NULL AND o.level <> 'user' AND o.member IS NULL ORDER BY o.pinned DESC, o.created_at_epoch DESC LIMIT ?2"
        );
        let mut rows = self.0.prepare_cached(&sql)?;
        Ok(rows.query_map(params![project.sql(), limit], index_row)?.collect::<Result<_, _>>()?)
    }

    /// The newest offerable observations of other members, newest first: only what a person or an agent said,
    /// of types that tell something to others, nothing that reads like an instruction, and nothing of some members.
    pub fn team_index_rows(
        &self,
        project: ProjectId,
        except: &[MemberRowId],
        limit: u32,
    ) -> Result<Vec<IndexRow>, StoreError> {
        let excepted = vec!["?"; except.len()].join(", ");
        let sql = format!(
            "{OBSERVATIONS} WHERE o.project_id = ? AND o.member IS NOT NULL AND o.wrong = 0 AND o.held_back = 0
               AND o.replaced_by IS NULL AND o.level = 'project' AND o.type IN ('decision', 'bugfix', 'discovery')
               AND o.origin IN ('user', 'manual', 'agent') AND o.member NOT IN ({excepted})
             ORDER BY o.created_at_epoch DESC LIMIT ?"
        );
        let mut values: Vec<Value> = vec![project.0.into()];
        values.extend(except.iter().map(|member| Value::from(member.0)));
        values.push(i64::from(limit).into());
        let mut rows = self.0.prepare_cached(&sql)?;
        Ok(rows.query_map(params_from_iter(values), index_row)?.collect::<Result<_, _>>()?)
    }

    /// Observations that apply to all projects.
    pub fn user_level_index_rows(&self, limit: u32) -> Result<Vec<IndexRow>, StoreError> {
        let sql = format!(
            "{OBSERVATIONS} WHERE o.level = 'user' AND o.level <> 'project' AND o.wrong = 0 AND o.replaced_by IS NULL
             AND o.member IS NULL ORDER BY o.pinned DESC, o.created_at_epoch DESC LIMIT ?1"
        );
        let mut rows = self.0.prepare_cached(&sql)?;
        Ok(rows.query_map([limit], index_row)?.collect::<Result<_, _>>()?)
    }

    /// Observations of a project that are proposed for every project, newest first.
    pub fn proposed_index_rows(&self, project: ProjectId, limit: u32) -> Result<Vec<IndexRow>, StoreError> {
        let sql = proposed_sql();
        let mut rows = self.0.prepare_cached(&sql)?;
        Ok(rows.query_map(params![project.sql(), limit], index_row)?.collect::<Result<_, _>>()?)
    }

    /// The newest summary of each of the latest sessions, newest first.
    pub fn session_index_rows(&self, project: ProjectId, limit: u32) -> Result<Vec<IndexRow>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT 'summary', s.id, '', s.request, s.session_id, s.branch, '[]', s.files_edited, 0, s.read_tokens,
               s.discovery_tokens, s.created_at_epoch, 0, 0, s.origin, 1, s.member
             FROM session_summaries AS s WHERE s.project_id = ?1 AND s.member IS NULL
               AND NOT EXISTS (SELECT 1 FROM session_summaries AS later WHERE later.session_id = s.session_id
                 AND (later.created_at_epoch, later.id) > (s.created_at_epoch, s.id))
             ORDER BY s.created_at_epoch DESC LIMIT ?2",
        )?;
        Ok(rows.query_map(params![project.sql(), limit], index_row)?.collect::<Result<_, _>>()?)
    }
}

/// The suggested preferences of a project. The signs keep SQLite from walking through all rows of the project:
/// few rows are proposed.
fn proposed_sql() -> String {
    format!(
        "{OBSERVATIONS} WHERE +o.project_id = ?1 AND o.level = 'proposed' AND o.level <> 'project'
         AND o.wrong = 0 AND o.replaced_by IS NULL AND +o.member IS NULL
         ORDER BY +o.created_at_epoch DESC LIMIT ?2"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn suggested_preferences_are_read_by_their_level() {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::open(&temp.path().join("claude-mem.db")).unwrap();
        let plan = store.read().query_plan(&proposed_sql());
        assert!(plan.contains("observations_at_user_level"), "{plan}");
    }
}
