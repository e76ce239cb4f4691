//! Opening the store, and putting a damaged one right.
//!
//! In: a data directory that is ours alone by its lock. Out: a store that works.
//!
//! Invariant: nothing is lost on the way. What takes the place of a damaged database is made whole
//! first, from the newest backup that passes SQLite's own check and from what can still be read of
//! the damaged one: its queue, and what was not to be remembered. Then the two change places; the
//! damaged one lies in `backups/` with its log. A process that dies over it leaves the damaged one
//! where it was, or a note by which the next one ends the change. Nobody writes meanwhile: hooks
//! find the gate closed and spool.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::backups;
use crate::clock::Millis;
use crate::limits::{GATE_SECONDS, SALVAGE_BATCH_ROWS};
use crate::log::{Level, Log};
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
    /// Newer backups that could not be used, and why.
    #[serde(default)]
    pub passed_over: Vec<String>,
    /// What could not all be saved from it.
    #[serde(default)]
    pub incomplete: Vec<String>,
}

/// Opens the store; recovers it first if it is damaged.
pub fn open(dir: &DataDir, now: Millis) -> Result<Store, StoreError> {
    match Store::open(&dir.db()).and_then(probed) {
        Err(StoreError::Damaged) => recover(dir, now),
        Ok(store) => {
            // One that was killed may have left it.
            clear(dir)?;
            Ok(store)
        }
        failed => failed,
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
    // An earlier attempt may have got as far as the change itself.
    if !Store::finish_swap(&gate, &dir.db())? {
        let damaged = aside(dir, "damaged", now)?;
        let (ready, happened) = rebuilt(dir, &damaged, now)?;
        Store::swap(&gate, &dir.db(), &ready, &damaged)?;
        happened.log(dir);
    }
    drop(gate);
    clear(dir)?;
    Store::open(&dir.db())
}

/// Makes what is to take the place, notice included. Nothing has moved yet.
fn rebuilt(dir: &DataDir, damaged: &Path, now: Millis) -> Result<(PathBuf, Recovered), StoreError> {
    let ready = workshop(dir)?;
    let (backup_from, passed_over) = restore_newest(dir, &ready)?;
    let mut store = Store::open(&ready)?;
    let found = Store::salvage(&dir.db())?;
    let notice = Recovered {
        at: now,
        damaged: damaged.to_owned(),
        backup_from,
        salvaged: salvage(&mut store, &found, now)?,
        passed_over,
        incomplete: found.incomplete,
    };
    let text = serde_json::to_string(&notice)?;
    store.write(|tx| tx.set_meta(NOTICE, &text))?;
    store.close()?;
    Ok((ready, notice))
}

impl Recovered {
    fn log(&self, dir: &DataDir) {
        let backup = self
            .backup_from
            .map_or_else(|| "none".to_owned(), backups::stamp);
        let said: [(_, &dyn std::fmt::Display); 5] = [
            ("damaged", &self.damaged.display()),
            ("backup", &backup),
            ("events_saved", &self.salvaged),
            ("passed_over", &self.passed_over.join("; ")),
            ("not_all_saved", &self.incomplete.join("; ")),
        ];
        Log::of_worker(dir).line(self.at, Level::Error, "the store was replaced", &said);
    }
}

/// Where a database can be made: in an empty directory of ours.
fn workshop(dir: &DataDir) -> Result<PathBuf, StoreError> {
    clear(dir)?;
    let place = dir.recovering();
    crate::paths::create_dir(&place).map_err(|e| StoreError::Io(place.display().to_string(), e))?;
    Ok(place.join("claude-mem.db"))
}

fn clear(dir: &DataDir) -> Result<(), StoreError> {
    let place = dir.recovering();
    match std::fs::remove_dir_all(&place) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::Io(place.display().to_string(), e))
        }
        _ => Ok(()),
    }
}

/// Where the database that makes room goes.
fn aside(dir: &DataDir, word: &str, now: Millis) -> Result<PathBuf, StoreError> {
    let place = dir.backups();
    crate::paths::create_dir(&place).map_err(|e| StoreError::Io(place.display().to_string(), e))?;
    Ok(free_name(dir, word, now))
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

/// Makes `ready` of the newest sound backup. `None`: there is none. With those that were newer and
/// no good.
fn restore_newest(
    dir: &DataDir,
    ready: &Path,
) -> Result<(Option<Millis>, Vec<String>), StoreError> {
    let mut passed_over = Vec::new();
    for backup in backups::list(&dir.backups())?.into_iter().rev() {
        match Store::restore(&backup.path, ready) {
            Ok(()) => return Ok((Some(backup.at), passed_over)),
            // This one is no good either; an older one may be.
            Err(error @ (StoreError::Damaged | StoreError::Foreign | StoreError::Newer { .. })) => {
                passed_over.push(format!("{}: {error}", backup.path.display()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok((None, passed_over))
}

/// Puts a chosen backup in place. Returns where what was there before lies now.
pub fn replace(
    dir: &DataDir,
    backup: &Path,
    now: Millis,
    within: Duration,
) -> Result<Option<PathBuf>, StoreError> {
    let gate = Gate::close(&dir.db(), within)?;
    Store::finish_swap(&gate, &dir.db())?;
    let replaced = aside(dir, "replaced", now)?;
    let ready = workshop(dir)?;
    Store::restore(backup, &ready)?;
    let was_there = dir.db().exists();
    Store::swap(&gate, &dir.db(), &ready, &replaced)?;
    drop(gate);
    clear(dir)?;
    Ok(was_there.then_some(replaced))
}

/// Queues again what the damaged database still tells of its queue, and remembers which sessions
/// were not to be remembered and which memories were forgotten.
fn salvage(store: &mut Store, found: &Salvage, now: Millis) -> Result<usize, StoreError> {
    let mut saved = 0;
    for some in found.events.chunks(SALVAGE_BATCH_ROWS) {
        saved += store.write(|tx| {
            let taken = some.iter().map(|event| tx.take_back(event, now));
            let taken = taken.collect::<Result<Vec<_>, _>>()?;
            Ok(taken.into_iter().filter(|new| *new).count())
        })?;
    }
    for some in found.ignored.chunks(SALVAGE_BATCH_ROWS) {
        store.write(|tx| {
            some.iter()
                .try_for_each(|(client, session)| tx.ignore_session(client, session, now))
        })?;
    }
    for some in found.tombstones.chunks(SALVAGE_BATCH_ROWS) {
        store.write(|tx| tx.forget_again(some, now))?;
    }
    Ok(saved)
}

#[cfg(test)]
#[path = "recover_tests.rs"]
mod tests;
