//! Copies of the truth: made in one step, verified before they count.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::open::{self, create_private_file};
use super::{Store, StoreError, migrate};

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

    /// Puts a backup where a database was. It is checked first, and the place must be free.
    pub fn restore(backup: &Path, to: &Path) -> Result<(), StoreError> {
        let unfinished = to.with_extension(format!("db.new-{}", std::process::id()));
        remove_if_there(&unfinished)?;
        let restored = copy_file(backup, &unfinished)
            .and_then(|()| verify(&unfinished))
            .and_then(|()| open::keep_a_log(&unfinished))
            .and_then(|()| open::link_into_place(&unfinished, to));
        remove_if_there(&unfinished)?;
        restored
    }
}

/// What was forgotten can be brought back for a while, but not from a backup: there it is gone
/// from every page and from the index too.
fn forget_for_good(copy: &Connection) -> Result<(), StoreError> {
    let is_so = |sql| copy.query_row(sql, [], |row| row.get::<_, bool>(0));
    // A schema from before there was forgetting has forgotten nothing.
    if !is_so("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'forgotten')")?
        || !is_so("SELECT EXISTS (SELECT 1 FROM forgotten)")?
    {
        return Ok(());
    }
    // The backup before a migration has the index of the schema that is left.
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
    let mut source = std::fs::File::open(from).map_err(io)?;
    let mut copy = create_private_file(to).map_err(io)?;
    std::io::copy(&mut source, &mut copy).map_err(io)?;
    copy.sync_all().map_err(io)
}

/// Ours, sound, and of a version that we can read.
fn verify(database: &Path) -> Result<(), StoreError> {
    let conn = open::reader(database)?;
    let verdict: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Err(StoreError::Damaged);
    }
    match migrate::check(&conn) {
        Err(StoreError::Older { .. }) => Ok(()),
        other => other,
    }
}

fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::io(path.display(), e))
        }
        _ => Ok(()),
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
        forget_for_good(&copy)?;
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

#[cfg(test)]
#[path = "backup_tests.rs"]
mod tests;
