//! Key-value facts about the store itself, in the `meta` table.

use rusqlite::OptionalExtension;

use super::{StoreError, StoreReader, StoreWriter};
use crate::columns::{key_column, text_column};

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
    pub fn set_meta(&self, key: &str, value: &str) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value")?
            .execute([key_column(key), text_column(value)])?;
        Ok(())
    }
}
