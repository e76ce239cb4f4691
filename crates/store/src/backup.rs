//! Backups of the main database: copied in one step and verified before they get their name.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::open::{self, create_private_file, remove_if_exists};
use super::{StoreError, schema};

/// A finished backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupReport {
    pub path: PathBuf,
    pub bytes: u64,
}

/// Restores a backup to `to`, which must not exist. The backup is verified first.
pub(super) fn restore_backup(backup: &Path, to: &Path) -> Result<(), StoreError> {
    let unfinished = to.with_extension(format!("db.new-{}", std::process::id()));
    remove_if_exists(&unfinished)?;
    let restored = copy_file(backup, &unfinished)
        .and_then(|()| verify_backup(&unfinished))
        .and_then(|()| open::enable_wal(&unfinished))
        .and_then(|()| open::link_into_place(&unfinished, to));
    remove_if_exists(&unfinished)?;
    restored
}

/// Removes forgotten rows from every page and index of a backup: a forgotten row can be restored
/// for a while, but not from a backup.
fn erase_forgotten(copy: &Connection) -> Result<(), StoreError> {
    let is_so = |sql| copy.query_row(sql, [], |row| row.get::<_, bool>(0));
    // An older schema without this table has no forgotten rows.
    if !is_so("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'forgotten')")?
        || !is_so("SELECT EXISTS (SELECT 1 FROM forgotten)")?
    {
        return Ok(());
    }
    // A backup before a migration still has the old schema's index.
    let index: String = copy.query_row(
        "SELECT name FROM sqlite_schema WHERE name IN ('texts_fts', 'passages_fts')",
        [],
        |row| row.get(0),
    )?;
    copy.execute_batch(&format!(
        "DELETE FROM forgotten; INSERT INTO {index}({index}) VALUES ('optimize'); VACUUM;"
    ))?;
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> Result<(), StoreError> {
    let io = |error| StoreError::io(from.display(), error);
    let mut source = claude_mem_core::paths::open_file(from).map_err(io)?;
    let mut copy = create_private_file(to).map_err(io)?;
    std::io::copy(&mut source, &mut copy).map_err(io)?;
    copy.sync_all().map_err(io)
}

/// Checks that a backup is ours, sound, and of a schema that we can read.
fn verify_backup(database: &Path) -> Result<(), StoreError> {
    let conn = open::open_reader(database)?;
    let verdict: String = conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Err(StoreError::Corrupt);
    }
    match schema::check_version(&conn) {
        Err(StoreError::Older { .. }) => Ok(()),
        other => other,
    }
}

/// Backs up before a migration, to a file beside the database: the backup folder may not exist yet.
pub(super) fn back_up_before_migration(
    conn: &Connection,
    database: &Path,
    found: u32,
) -> Result<(), StoreError> {
    let to = database.with_extension(format!("before-migration-{found}.db"));
    // An earlier attempt has already made this backup and failed later.
    if !to.exists() {
        copy_verified(conn, &to)?;
    }
    Ok(())
}

/// Copies the database, verifies the copy and only then renames it to `to`.
#[allow(clippy::disallowed_methods, reason = "no other process has the backup open")]
pub(super) fn copy_verified(from: &Connection, to: &Path) -> Result<BackupReport, StoreError> {
    let unfinished = to.with_extension(format!("unfinished-{}", std::process::id()));
    create_private_file(&unfinished).map_err(|e| StoreError::io(unfinished.display(), e))?;
    let result = (|| {
        let mut copy = Connection::open(&unfinished)?;
        // All pages in one step: one snapshot, whatever writers do meanwhile.
        if Backup::new(from, &mut copy)?.step(-1)? != StepResult::Done {
            return Err(StoreError::Busy);
        }
        copy.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
        erase_forgotten(&copy)?;
        // Not `quick_check`, which does not compare indexes with their tables.
        let verdict: String = copy.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if verdict != "ok" {
            return Err(StoreError::Corrupt);
        }
        copy.close().map_err(|(_, e)| e)?;
        std::fs::rename(&unfinished, to).map_err(|e| StoreError::io(to.display(), e))?;
        let bytes = std::fs::metadata(to).map_err(|e| StoreError::io(to.display(), e))?.len();
        Ok(BackupReport { path: to.to_owned(), bytes })
    })();
    if result.is_err() && unfinished.exists() {
        std::fs::remove_file(&unfinished).map_err(|e| StoreError::io(unfinished.display(), e))?;
    }
    result
}

#[cfg(test)]
#[path = "backup_tests.rs"]
mod tests;
