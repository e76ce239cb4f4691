//! Opens the store, and replaces a corrupt database.
//!
//! Only the holder of the worker lock may call this.
//!
//! Invariant: recovery loses nothing that can still be read. The replacement is completed first, from
//! the newest backup that passes SQLite's check and from the readable rest of the corrupt database:
//! its queue, its ignored sessions and its tombstones, and without a backup its memories too. Then the two are swapped, and the corrupt
//! database is kept in `backups/` with its write-ahead log. A process that dies meanwhile leaves
//! either the corrupt database in place or a note with which the next process completes the swap.
//! Nothing is written meanwhile: hooks find the gate closed and write to the spool.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::salvage_rows::{CopiedRows, DamagedRows};
use super::{backup, backups, swap};
use crate::{ExclusiveLock, SalvagedData, Store, StoreError};
use claude_mem_core::clock::Millis;
use claude_mem_core::limits::GATE_SECONDS;
use claude_mem_core::log::{LogLevel, LogWriter};
use claude_mem_core::paths::DataDir;

/// Rows salvaged from a corrupt database that are written to the new one in one transaction.
const SALVAGE_BATCH_ROWS: usize = 64;

/// Meta key of the [`RecoveryNotice`].
pub const RECOVERY_NOTICE_KEY: &str = "notice.recovered";
/// How long the notice is shown.
pub const RECOVERY_NOTICE_SECONDS: i64 = 7 * 86_400;

/// Tells the user that the database was replaced, and what was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryNotice {
    pub at: Millis,
    /// Where the corrupt database is kept.
    pub damaged: PathBuf,
    /// When the restored backup was made. `None` if there was none and memory starts empty.
    pub backup_from: Option<Millis>,
    /// Number of queued events salvaged from the corrupt database.
    pub salvaged: usize,
    /// Number of rows copied from the corrupt database, without a backup.
    #[serde(default)]
    pub rows: u64,
    /// Newer backups that could not be used, and why.
    #[serde(default)]
    pub passed_over: Vec<String>,
    /// Tables that could not be salvaged completely.
    #[serde(default)]
    pub incomplete: Vec<String>,
}

/// Opens the store, after recovering it if it is corrupt.
pub fn open_or_recover(dir: &DataDir, now: Millis) -> Result<Store, StoreError> {
    match Store::open(&dir.db()).and_then(probe) {
        Err(StoreError::Corrupt) => recover(dir, now),
        Ok(store) => {
            // A killed recovery may have left its staging directory.
            clear_staging(dir)?;
            Ok(store)
        }
        failed => failed,
    }
}

/// Reads a few rows that the worker needs, to notice corruption early.
fn probe(store: Store) -> Result<Store, StoreError> {
    store.read().sessions_with_work()?;
    store.read().projects()?;
    Ok(store)
}

/// Replaces a store that is known to be corrupt. It must not be open in this process.
pub fn recover(dir: &DataDir, now: Millis) -> Result<Store, StoreError> {
    let gate = ExclusiveLock::acquire(&dir.db(), Duration::from_secs(GATE_SECONDS))?;
    // An earlier attempt may have died in the middle of the swap.
    if !swap::finish_swap(&gate, &dir.db())? {
        let damaged = set_aside_path(dir, "damaged", now)?;
        let (ready, happened) = rebuild(dir, &damaged, now)?;
        swap::swap_database(&gate, &dir.db(), &ready, &damaged)?;
        happened.log(dir);
    }
    drop(gate);
    clear_staging(dir)?;
    Store::open(&dir.db())
}

/// Builds the replacement in the staging directory, including the notice. Moves nothing yet.
fn rebuild(dir: &DataDir, damaged: &Path, now: Millis) -> Result<(PathBuf, RecoveryNotice), StoreError> {
    let ready = staging_path(dir)?;
    let (backup_from, passed_over) = restore_newest_backup(dir, &ready)?;
    let mut store = Store::open(&ready)?;
    // A new database has its first page in the file only after a checkpoint.
    store.checkpoint()?;
    let damaged_rows = match backup_from {
        None => Some(DamagedRows::open(&dir.db(), &ready, &dir.recovering())?),
        Some(_) => None,
    };
    let mut copied = match &damaged_rows {
        Some(rows) => rows.copy_memories(&mut store)?,
        None => CopiedRows::default(),
    };
    let readable = damaged_rows.as_ref().and_then(DamagedRows::repaired_copy);
    let found = Store::salvage(&readable.unwrap_or_else(|| dir.db()))?;
    let salvaged = requeue_salvaged(&mut store, &found, now)?;
    if let Some(rows) = &damaged_rows {
        let seen = rows.copy_seen_events(&mut store)?;
        if copied.rows > 0 {
            copied.incomplete.extend(seen.incomplete);
        }
    }
    let notice = RecoveryNotice {
        at: now,
        damaged: damaged.to_owned(),
        backup_from,
        salvaged,
        rows: copied.rows,
        passed_over,
        incomplete: [copied.incomplete, found.incomplete].concat(),
    };
    let text = serde_json::to_string(&notice)?;
    store.write(|tx| tx.set_meta(RECOVERY_NOTICE_KEY, &text))?;
    store.close()?;
    Ok((ready, notice))
}

impl RecoveryNotice {
    fn log(&self, dir: &DataDir) {
        let backup = self.backup_from.map_or_else(|| "none".to_owned(), backups::format_stamp);
        let said: [(_, &dyn std::fmt::Display); 6] = [
            ("damaged", &self.damaged.display()),
            ("backup", &backup),
            ("events_saved", &self.salvaged),
            ("rows_saved", &self.rows),
            ("passed_over", &self.passed_over.join("; ")),
            ("not_all_saved", &self.incomplete.join("; ")),
        ];
        LogWriter::for_worker(dir).line(self.at, LogLevel::Error, "the corrupt database was replaced", &said);
    }
}

/// The path of the replacement, in an empty staging directory.
fn staging_path(dir: &DataDir) -> Result<PathBuf, StoreError> {
    clear_staging(dir)?;
    let place = dir.recovering();
    claude_mem_core::paths::create_dir(&place).map_err(|e| StoreError::Io(place.display().to_string(), e))?;
    Ok(DataDir::new(place).db())
}

fn clear_staging(dir: &DataDir) -> Result<(), StoreError> {
    let place = dir.recovering();
    match std::fs::remove_dir_all(&place) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::Io(place.display().to_string(), e))
        }
        _ => Ok(()),
    }
}

/// The path to which the current database is moved.
fn set_aside_path(dir: &DataDir, word: &str, now: Millis) -> Result<PathBuf, StoreError> {
    let place = dir.backups();
    claude_mem_core::paths::create_dir(&place).map_err(|e| StoreError::Io(place.display().to_string(), e))?;
    Ok(unused_name(dir, word, now))
}

/// A file name that is not taken: two recoveries may happen in the same second.
fn unused_name(dir: &DataDir, word: &str, now: Millis) -> PathBuf {
    let stamp = backups::format_stamp(now);
    let name = |number: u32| match number {
        0 => dir.backups().join(format!("{word}-{stamp}.db")),
        number => dir.backups().join(format!("{word}-{stamp}-{number}.db")),
    };
    (0..u32::MAX).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(0))
}

/// Restores the newest sound backup to `ready`. Returns its time, or `None` without one, and the
/// newer backups that were unusable.
fn restore_newest_backup(dir: &DataDir, ready: &Path) -> Result<(Option<Millis>, Vec<String>), StoreError> {
    let mut passed_over = Vec::new();
    for backup in backups::list(&dir.backups())?.into_iter().rev() {
        match backup::restore_backup(&backup.path, ready) {
            Ok(()) => return Ok((Some(backup.at), passed_over)),
            // Unusable; an older one may be sound.
            Err(error @ (StoreError::Corrupt | StoreError::Foreign | StoreError::Newer { .. })) => {
                passed_over.push(format!("{}: {error}", backup.path.display()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok((None, passed_over))
}

/// Replaces the database with a chosen backup. Returns the path of the previous database.
pub fn restore_backup(
    dir: &DataDir,
    backup: &Path,
    now: Millis,
    within: Duration,
) -> Result<Option<PathBuf>, StoreError> {
    let gate = ExclusiveLock::acquire(&dir.db(), within)?;
    swap::finish_swap(&gate, &dir.db())?;
    let replaced = set_aside_path(dir, "replaced", now)?;
    let ready = staging_path(dir)?;
    backup::restore_backup(backup, &ready)?;
    let was_there = dir.db().exists();
    swap::swap_database(&gate, &dir.db(), &ready, &replaced)?;
    drop(gate);
    clear_staging(dir)?;
    Ok(was_there.then_some(replaced))
}

/// Copies the salvaged queue, ignored sessions and tombstones into the replacement. Returns the
/// number of events that the backup did not have.
fn requeue_salvaged(store: &mut Store, found: &SalvagedData, now: Millis) -> Result<usize, StoreError> {
    let mut saved = 0;
    for some in found.events.chunks(SALVAGE_BATCH_ROWS) {
        saved += store.write(|tx| {
            let taken = some.iter().map(|event| tx.requeue_salvaged(event, now));
            let taken = taken.collect::<Result<Vec<_>, _>>()?;
            Ok(taken.into_iter().filter(|new| *new).count())
        })?;
    }
    for some in found.ignored.chunks(SALVAGE_BATCH_ROWS) {
        store.write(|tx| {
            some.iter().try_for_each(|(client, session)| tx.ignore_session(client, session, now))
        })?;
    }
    for some in found.tombstones.chunks(SALVAGE_BATCH_ROWS) {
        store.write(|tx| tx.reapply_tombstones(some, now))?;
    }
    Ok(saved)
}

#[cfg(test)]
#[path = "recovery_tests.rs"]
mod tests;
