//! What grows slowly and is of no use after a while: old rows, marks, files left behind.
//!
//! Invariant: a mark that says "not to be remembered" goes only when nothing can bring back what
//! it speaks of: months later, when the session is over and its transcript gone, or when the
//! store itself says the same. What somebody is still making is not touched.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::backups;
use super::shared::SharedStore;
use crate::clock::Millis;
use crate::hook::key;
use crate::limits::{
    HTTP_LINK_SECONDS, LEDGER_DAYS_MAX, LEFT_BEHIND_SECONDS, MARK_DAYS_MAX, ROW_CHANGES_MAX,
    SET_ASIDE_DAYS_MAX, SET_ASIDE_MAX, SPEND_DAYS_MAX, SWEEP_ROWS,
};
use crate::paths::{DataDir, OPENING};
use crate::store::{Reads, Remembered, StoreError, Writes};

const DAY_SECONDS: i64 = 86_400;

/// Calls `some` until fewer go than may, each time in a transaction of its own. Returns how many
/// went.
pub fn rows(
    store: &SharedStore,
    some: impl Fn(&Writes<'_>, u32) -> Result<usize, StoreError>,
) -> Result<usize, StoreError> {
    let mut gone = 0;
    loop {
        let now = store.with(|store| store.write(|tx| some(tx, SWEEP_ROWS)))?;
        gone += now;
        if now < SWEEP_ROWS as usize {
            return Ok(gone);
        }
    }
}

/// The ledger, what calls have cost, and where transcripts were left that are gone.
pub fn old_rows(store: &SharedStore, now: Millis) -> Result<(), StoreError> {
    let ago = |days: i64| now.plus_seconds(-days * DAY_SECONDS);
    rows(store, |tx, max| {
        tx.drop_spend_before(ago(SPEND_DAYS_MAX), max)
    })?;
    rows(store, |tx, max| {
        tx.drop_compactions_before(ago(MARK_DAYS_MAX), max)
    })?;
    rows(store, |tx, max| tx.drop_changes(ROW_CHANGES_MAX, max))?;
    rows(store, |tx, max| {
        let shown = tx.old_showings(ago(LEDGER_DAYS_MAX), max)?;
        tx.drop_showings(&shown)?;
        Ok(shown.len())
    })?;
    let read = store.with(|store| store.read().transcripts_read_before(ago(MARK_DAYS_MAX)))?;
    let gone: Vec<String> = read
        .into_iter()
        .filter(|path| is_gone(Path::new(path)))
        .collect();
    for some in gone.chunks(SWEEP_ROWS as usize) {
        store.with(|store| store.write(|tx| tx.drop_transcript_positions(some)))?;
    }
    Ok(())
}

/// In doubt it is there.
fn is_gone(path: &Path) -> bool {
    let found = std::fs::symlink_metadata(path);
    found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Marks of turns and sessions that are over.
pub fn old_marks(store: &SharedStore, now: Millis) -> Result<(), StoreError> {
    let before = now.plus_seconds(-MARK_DAYS_MAX * DAY_SECONDS);
    let muted = store.dir().muted();
    let io = |error| StoreError::Io(muted.display().to_string(), error);
    let old: Vec<PathBuf> = files(&muted, before).map_err(io)?;
    if old.is_empty() {
        return Ok(());
    }
    let (needed, closed) = store.with(|store| marks_in_use(&store.read(), before))?;
    for mark in old {
        let name = mark
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let (id, ending) = name.split_at_checked(32).unwrap_or((name, "?"));
        let goes = match ending {
            "" | ".past" | ".prompt" => !needed.contains(id),
            // The store says the same, for good.
            ".ignored" | ".closed" => closed.contains(id),
            _ => false,
        };
        if goes {
            remove(&mark).map_err(io)?;
        }
    }
    Ok(())
}

/// The names of the marks of sessions that may still be heard of, and of sessions whose
/// transcripts the store keeps closed.
fn marks_in_use(
    reads: &Reads<'_>,
    before: Millis,
) -> Result<(HashSet<String>, HashSet<String>), StoreError> {
    let (mut needed, mut closed) = (HashSet::new(), HashSet::new());
    for session in reads.remembered_sessions()? {
        let name = key::hex(&key::session(&session.client, &session.session));
        if session.is_closed {
            closed.insert(name.clone());
        }
        if may_go_on(&session, before) {
            needed.insert(name);
            for prompt in reads.prompt_ids(&session.client, &session.session)? {
                let parts = [&session.client, &session.session, &prompt].map(String::as_bytes);
                needed.insert(key::hex(&key::digest(&parts)));
            }
        }
    }
    Ok((needed, closed))
}

fn may_go_on(session: &Remembered, before: Millis) -> bool {
    let transcript = session.transcript_path.as_deref().map(Path::new);
    session.last_activity >= before || transcript.is_some_and(|path| !is_gone(path))
}

/// What killed processes were making, and databases that made room for others.
pub fn leftovers(dir: &DataDir, now: Millis) -> io::Result<()> {
    let before = now.plus_seconds(-LEFT_BEHIND_SECONDS);
    for place in [dir.root().to_owned(), dir.backups()] {
        for file in files(&place, before)? {
            if maker_of(&file).is_some_and(|pid| !is_alive(pid)) {
                remove(&file)?;
            }
        }
    }
    let mut aside: Vec<(Millis, PathBuf)> = files(&dir.backups(), Millis(i64::MAX))?
        .into_iter()
        .filter_map(|file| Some((set_aside_at(&file)?, file)))
        .collect();
    aside.sort_by(|a, b| b.cmp(a));
    let too_old = now.plus_seconds(-SET_ASIDE_DAYS_MAX * DAY_SECONDS);
    for (place, (at, file)) in aside.iter().enumerate() {
        if place >= SET_ASIDE_MAX || *at < too_old {
            for ending in ["-wal", "-shm", ""] {
                let mut file = file.as_os_str().to_owned();
                file.push(ending);
                remove(Path::new(&file))?;
            }
        }
    }
    Ok(())
}

/// Pages that lead to links which are void by now.
pub fn opened(dir: &DataDir, now: Millis) -> io::Result<()> {
    let before = now.plus_seconds(-i64::try_from(HTTP_LINK_SECONDS).unwrap_or(i64::MAX));
    for file in files(dir.root(), before)? {
        let name = file.file_name().and_then(|name| name.to_str());
        let is_page = file.extension().is_some_and(|ending| ending == "html");
        if is_page && name.is_some_and(|name| name.starts_with(OPENING)) {
            remove(&file)?;
        }
    }
    Ok(())
}

/// `claude-mem.db.new-123`, `claude-mem-….unfinished-123-journal`: the number of whoever made it.
fn maker_of(file: &Path) -> Option<i32> {
    let name = file.file_name()?.to_str()?;
    let (_, rest) = name
        .split_once(".unfinished-")
        .or_else(|| name.split_once(".db.new-"))?;
    let digits = rest.split('-').next()?;
    digits.parse().ok()
}

fn is_alive(pid: i32) -> bool {
    let Some(pid) = rustix::process::Pid::from_raw(pid) else {
        return false;
    };
    rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}

/// When a database of `backups/` made room for another.
fn set_aside_at(file: &Path) -> Option<Millis> {
    let name = file.file_name()?.to_str()?.strip_suffix(".db")?;
    let stamp = name
        .strip_prefix("damaged-")
        .or_else(|| name.strip_prefix("replaced-"))?;
    backups::read_stamp(stamp.split('-').next()?)
}

/// The files of a directory that were last changed before `before`.
fn files(dir: &Path, before: Millis) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let about = match entry.metadata() {
            // Somebody else was faster.
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            about => about?,
        };
        if about.is_file() && millis(about.modified()?) < before {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn millis(at: SystemTime) -> Millis {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn remove(file: &Path) -> io::Result<()> {
    match std::fs::remove_file(file) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "sweep_tests.rs"]
mod tests;
