//! Whether the indexes tell what the rows tell, and when something last came in.

use super::{Reads, Store, StoreError};
use crate::clock::Millis;

impl Store {
    /// Compares the full-text index with the text that it speaks for. Changes nothing, and needs
    /// a store that was opened to be changed all the same: that is how SQLite asks for it.
    pub fn words_in_step(&self) -> Result<bool, StoreError> {
        let sql = "INSERT INTO texts_fts(texts_fts, rank) VALUES('integrity-check', 1)";
        match self.conn.execute(sql, []).map_err(StoreError::from) {
            Ok(_) => Ok(true),
            Err(StoreError::Damaged) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes the full-text index anew.
    pub fn rebuild_words(&mut self) -> Result<(), StoreError> {
        let sql = "INSERT INTO texts_fts(texts_fts) VALUES('rebuild')";
        self.conn.execute(sql, [])?;
        Ok(())
    }
}

impl Reads<'_> {
    /// When a hook was last heard of. What was imported does not count.
    pub fn last_heard(&self) -> Result<Option<Millis>, StoreError> {
        let sql = "SELECT max(at) FROM (
             SELECT max(last_activity_epoch) AS at FROM sdk_sessions WHERE import_run IS NULL
             UNION ALL SELECT max(accepted_at_epoch) FROM pending_messages)";
        Ok(self.0.query_row(sql, [], |row| row.get(0))?)
    }

    /// Rows that can have vectors.
    pub fn embeddable_count(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM texts INDEXED BY texts_to_embed";
        Ok(self.0.query_row(sql, [], |row| row.get(0))?)
    }
}
