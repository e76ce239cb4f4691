//! Key-value facts about the store itself, in the `meta` table.

use rusqlite::OptionalExtension;

use super::{Store, StoreError, StoreReader, StoreWriter};
use crate::columns::{key_column, text_column};

/// Key: `1` while the write-ahead log may still contain deleted text.
const LOG_HOLDS_DELETED: &str = "log.holds_gone";

impl Store {
    /// Removes deleted text from the write-ahead log, if [`StoreWriter::note_deleted_text`] said that it may hold some.
    /// A reader can prevent it; then the next call tries again.
    pub fn clear_deleted_from_log(&mut self) -> Result<(), StoreError> {
        let is_owed = self.read().meta(LOG_HOLDS_DELETED)?.as_deref() == Some("1");
        if is_owed && self.checkpoint()? {
            self.write(|tx| tx.set_meta(LOG_HOLDS_DELETED, "0"))?;
        }
        Ok(())
    }
}

impl StoreReader<'_> {
    pub fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        Ok(self
            .0
            .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
            .query_row([key_column(key)], |row| row.get(0))
            .optional()?)
    }
}

impl StoreWriter<'_> {
    /// Says, in the transaction that deletes text, that the log keeps it until a checkpoint.
    pub fn note_deleted_text(&self) -> Result<(), StoreError> {
        self.set_meta(LOG_HOLDS_DELETED, "1")
    }

    pub fn set_meta(&self, key: &str, value: &str) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value")?
            .execute([key_column(key), text_column(value)])?;
        Ok(())
    }
}
