//! Consistency of the full-text index, and the time of the last hook.

use super::{Store, StoreError, StoreReader};
use crate::columns::ReadColumn;
use claude_mem_core::clock::Millis;

impl Store {
    /// Compares the full-text index with the stored text. It changes nothing, but FTS5's command is
    /// an `INSERT`, so the store must be writable.
    pub fn is_fts_consistent(&self) -> Result<bool, StoreError> {
        let sql = "INSERT INTO texts_fts(texts_fts, rank) VALUES('integrity-check', 1)";
        match self.conn.execute(sql, []).map_err(StoreError::from) {
            Ok(_) => Ok(true),
            Err(StoreError::Corrupt) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Rebuilds the full-text index from the stored text.
    pub fn rebuild_fts(&mut self) -> Result<(), StoreError> {
        let sql = "INSERT INTO texts_fts(texts_fts) VALUES('rebuild')";
        self.conn.execute(sql, [])?;
        Ok(())
    }
}

impl StoreReader<'_> {
    /// When the last hook event arrived, of all agents or of one. Imports and other members' sessions do not count.
    pub fn last_hook_activity(&self, client: Option<&str>) -> Result<Option<Millis>, StoreError> {
        let sql = "SELECT max(at) FROM (
             SELECT max(last_activity_epoch) AS at FROM sdk_sessions
               WHERE import_run IS NULL AND member IS NULL AND (?1 IS NULL OR client = ?1)
             UNION ALL SELECT max(accepted_at_epoch) FROM pending_messages WHERE ?1 IS NULL OR client = ?1)";
        Ok(self.0.query_row(sql, [client], |row| row.column(0))?)
    }

    /// How many rows can have vectors.
    pub fn embeddable_count(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM texts INDEXED BY texts_to_embed";
        Ok(self.0.query_row(sql, [], |row| row.get(0))?)
    }
}
