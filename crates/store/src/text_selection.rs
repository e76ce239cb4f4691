//! Selects indexed documents of all kinds by project, session, time and words, and the rows that were forgotten
//! together.

use rusqlite::params;

use super::fts::{DOCUMENT, document};
use super::{FtsQuery, IndexedDocument, RowId, RowKind, StoreError, StoreReader};
use crate::columns::{ReadColumn, SqlColumn};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ProjectId, SessionId};

/// Filter for documents. Absent fields match all.
#[derive(Clone, Debug, Default)]
pub struct TextSelection {
    pub project: Option<ProjectId>,
    pub session: Option<SessionId>,
    pub since: Option<Millis>,
    /// Exclusive.
    pub until: Option<Millis>,
    pub words: Option<FtsQuery>,
    pub kind: Option<RowKind>,
}

impl StoreReader<'_> {
    /// Up to `rows_max` matching documents, oldest first.
    pub fn select_texts(
        &self,
        wanted: &TextSelection,
        rows_max: u32,
    ) -> Result<Vec<IndexedDocument>, StoreError> {
        let words = match wanted.words {
            Some(_) => "id IN (SELECT rowid FROM texts_fts WHERE texts_fts MATCH ?5)",
            None => "?5 IS NULL",
        };
        let sql = format!(
            "{DOCUMENT} WHERE (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR session_id = ?2)
               AND (?3 IS NULL OR created_at_epoch >= ?3) AND (?4 IS NULL OR created_at_epoch < ?4) AND (?7 IS NULL OR kind = ?7)
               AND {words}
             ORDER BY created_at_epoch, id LIMIT ?6"
        );
        let query = wanted.words.as_ref().map(FtsQuery::to_fts5);
        let mut rows = self.0.prepare_cached(&sql)?;
        let rows = rows.query_map(
            params![
                wanted.project.sql(),
                wanted.session.sql(),
                wanted.since.sql(),
                wanted.until.sql(),
                query,
                rows_max,
                wanted.kind.map(RowKind::as_str)
            ],
            document,
        )?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The rows that were forgotten last, all by one command, in the order of forgetting.
    pub fn last_forgotten(&self) -> Result<Vec<RowId>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT kind, row_id FROM forgotten
             WHERE created_at_epoch = (SELECT max(created_at_epoch) FROM forgotten) ORDER BY id",
        )?;
        let rows = rows.query_map([], |row| Ok(RowId::new(row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The sessions of clients whose id starts with `start`, at most two.
    pub fn sessions_starting_with(&self, start: &str) -> Result<Vec<SessionId>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT id FROM sdk_sessions WHERE substr(content_session_id, 1, length(?1)) = ?1 ORDER BY id LIMIT 2",
        )?;
        Ok(rows.query_map([start], |row| row.column(0))?.collect::<Result<_, _>>()?)
    }
}
