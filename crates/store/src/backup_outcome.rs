//! Remembers a backup that failed, so that people are told until one succeeds.

use serde::{Deserialize, Serialize};

use super::{Store, StoreError, StoreReader};
use claude_mem_core::clock::Millis;

/// Meta key of the [`FailedBackup`]; empty if the last backup was made.
const FAILED_BACKUP_KEY: &str = "backup.failed";

/// Why the last backup was not made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedBackup {
    pub at: Millis,
    pub error: String,
}

impl StoreReader<'_> {
    /// The last backup, if it failed.
    pub fn failed_backup(&self) -> Result<Option<FailedBackup>, StoreError> {
        let stored = self.meta(FAILED_BACKUP_KEY)?.filter(|text| !text.is_empty());
        Ok(stored.map(|text| serde_json::from_str(&text)).transpose()?)
    }
}

impl Store {
    /// Remembers how a backup went. Writes nothing after a success that follows a success: a change would call for
    /// the next backup.
    pub fn record_backup_outcome(
        &mut self,
        error: Option<&StoreError>,
        now: Millis,
    ) -> Result<(), StoreError> {
        let text = match error {
            Some(error) => serde_json::to_string(&FailedBackup { at: now, error: error.to_string() })?,
            None if self.read().failed_backup()?.is_none() => return Ok(()),
            None => String::new(),
        };
        self.write(|tx| tx.set_meta(FAILED_BACKUP_KEY, &text))
    }
}
