//! Copies of the truth: made in one step, verified before they count.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::open::create_private_file;
use super::{Store, StoreError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupReport {
    pub path: PathBuf,
    pub bytes: u64,
}

impl Store {
    /// Copies the database to `to`, checks the copy, and only then gives it its name.
    pub fn back_up(&self, to: &Path) -> Result<BackupReport, StoreError> {
        copy_verified(&self.conn, to)
    }
}

/// Stands beside the database, not in a folder that may not exist yet.
pub(super) fn before_migration(
    conn: &Connection,
    database: &Path,
    found: u32,
) -> Result<(), StoreError> {
    let to = database.with_extension(format!("before-migration-{found}.db"));
    // A backup of this version is there already: an earlier attempt got this far and no further.
    if !to.exists() {
        copy_verified(conn, &to)?;
    }
    Ok(())
}

#[allow(
    clippy::disallowed_methods,
    reason = "a backup is a database that nobody else has open"
)]
fn copy_verified(from: &Connection, to: &Path) -> Result<BackupReport, StoreError> {
    let unfinished = to.with_extension(format!("unfinished-{}", std::process::id()));
    create_private_file(&unfinished).map_err(|e| StoreError::io(unfinished.display(), e))?;
    let result = (|| {
        let mut copy = Connection::open(&unfinished)?;
        // All pages in one step: a reader's snapshot, however long writers go on.
        if Backup::new(from, &mut copy)?.step(-1)? != StepResult::Done {
            return Err(StoreError::Busy);
        }
        copy.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
        let verdict: String = copy.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if verdict != "ok" {
            return Err(StoreError::Damaged);
        }
        copy.close().map_err(|(_, e)| e)?;
        std::fs::rename(&unfinished, to).map_err(|e| StoreError::io(to.display(), e))?;
        let bytes = std::fs::metadata(to)
            .map_err(|e| StoreError::io(to.display(), e))?
            .len();
        Ok(BackupReport {
            path: to.to_owned(),
            bytes,
        })
    })();
    if result.is_err() && unfinished.exists() {
        std::fs::remove_file(&unfinished).map_err(|e| StoreError::io(unfinished.display(), e))?;
    }
    result
}
