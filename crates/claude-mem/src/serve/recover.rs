//! Opening the store, and putting a damaged one right.
//!
//! In: a data directory that is ours alone by its lock. Out: a store that works.
//!
//! Invariant: nothing is deleted. A damaged database is moved to `backups/` with its log, the
//! newest backup that passes SQLite's own check takes its place, and what can still be read of
//! the damaged queue is queued again. Nobody writes meanwhile: hooks find the gate closed and
//! spool.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::backups;
use crate::clock::Millis;
use crate::hook::key;
use crate::limits::GATE_SECONDS;
use crate::paths::DataDir;
use crate::store::{Gate, Salvage, Store, StoreError};

/// Where the store keeps the notice, until somebody has shown it.
pub const NOTICE: &str = "notice.recovered";
/// For how long it is news.
pub const NEWS_SECONDS: i64 = 7 * 86_400;

/// What happened, for the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovered {
    pub at: Millis,
    /// Where the damaged database lies now.
    pub damaged: PathBuf,
    /// How old what replaced it is. `None`: there was no backup, and memory began anew.
    pub backup_from: Option<Millis>,
    /// Queued events that were saved from it.
    pub salvaged: usize,
}

/// Opens the store; recovers it first if it is damaged.
pub fn open(dir: &DataDir, now: Millis) -> Result<Store, StoreError> {
    match Store::open(&dir.db()).and_then(probed) {
        Err(StoreError::Damaged) => recover(dir, now),
        opened => opened,
    }
}

/// Reads a little of what the worker needs at once.
fn probed(store: Store) -> Result<Store, StoreError> {
    store.read().sessions_with_work()?;
    store.read().projects()?;
    Ok(store)
}

/// Replaces a store that is known to be damaged. It must not be open in this process.
pub fn recover(dir: &DataDir, now: Millis) -> Result<Store, StoreError> {
    let gate = Gate::close(&dir.db(), Duration::from_secs(GATE_SECONDS))?;
    let damaged = set_aside(dir, "damaged", now)?;
    let backup_from = restore_newest(dir)?;
    drop(gate);
    let mut store = Store::open(&dir.db())?;
    let salvaged = salvage(&mut store, &damaged, now)?;
    let notice = Recovered {
        at: now,
        damaged,
        backup_from,
        salvaged,
    };
    let text = serde_json::to_string(&notice)?;
    store.write(|tx| tx.set_meta(NOTICE, &text))?;
    Ok(store)
}

/// Moves the database and its log out of the way, the log first: a log that was left behind
/// would be taken for the next database's.
fn set_aside(dir: &DataDir, word: &str, now: Millis) -> Result<PathBuf, StoreError> {
    let io = |error| StoreError::Io("setting the damaged database aside".to_owned(), error);
    crate::paths::create_dir(&dir.backups()).map_err(io)?;
    let damaged = free_name(dir, word, now);
    for ending in ["-wal", "-shm", ""] {
        match std::fs::rename(beside(&dir.db(), ending), beside(&damaged, ending)) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(io(e)),
            _ => {}
        }
    }
    Ok(damaged)
}

/// Twice in a second is two names.
fn free_name(dir: &DataDir, word: &str, now: Millis) -> PathBuf {
    let stamp = backups::stamp(now);
    let name = |number: u32| match number {
        0 => dir.backups().join(format!("{word}-{stamp}.db")),
        number => dir.backups().join(format!("{word}-{stamp}-{number}.db")),
    };
    (0..u32::MAX)
        .map(name)
        .find(|path| !path.exists())
        .unwrap_or_else(|| name(0))
}

fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// Puts the newest sound backup in place. `None`: there is none.
fn restore_newest(dir: &DataDir) -> Result<Option<Millis>, StoreError> {
    for backup in backups::list(&dir.backups())?.into_iter().rev() {
        match Store::restore(&backup.path, &dir.db()) {
            Ok(()) => return Ok(Some(backup.at)),
            // This one is no good either; an older one may be.
            Err(StoreError::Damaged | StoreError::Foreign | StoreError::Newer { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Puts a chosen backup in place. Returns where what was there before lies now.
pub fn replace(
    dir: &DataDir,
    backup: &Path,
    now: Millis,
    within: Duration,
) -> Result<Option<PathBuf>, StoreError> {
    let _gate = Gate::close(&dir.db(), within)?;
    let set_aside = if dir.db().exists() {
        Some(set_aside(dir, "replaced", now)?)
    } else {
        None
    };
    Store::restore(backup, &dir.db())?;
    Ok(set_aside)
}

/// Queues again what the damaged database still tells of its queue, and remembers which sessions
/// were not to be remembered.
fn salvage(store: &mut Store, damaged: &Path, now: Millis) -> Result<usize, StoreError> {
    let Salvage { events, ignored } = Store::salvage(damaged);
    let mut saved = 0;
    for event in &events {
        store.write(|tx| tx.accept(key::of(event, None), event, now))?;
        saved += 1;
    }
    for (client, session) in &ignored {
        store.write(|tx| tx.ignore_session(client, session, now))?;
    }
    Ok(saved)
}

#[cfg(test)]
#[path = "recover_tests.rs"]
mod tests;
