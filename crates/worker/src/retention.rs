//! Retention: deletes old rows, old privacy marks and leftover files.
//!
//! Invariant: a privacy mark is deleted only when nothing can bring back what it protects: after
//! `MARK_DAYS_MAX` days, and only if the session is over and its transcript gone, or if the store
//! records the same fact. Files that a living process is still writing are not touched.

use crate::limits::HTTP_LINK_SECONDS;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use claude_mem_core::clock::Millis;
use claude_mem_core::event_key;
use claude_mem_core::limits::ROW_CHANGES_MAX;
use claude_mem_core::paths::{DataDir, OPEN_PAGE_PREFIX, remove_if_exists, with_suffix};
use claude_mem_ingest::shared_store::SharedStore;
use claude_mem_store::backups;
use claude_mem_store::{StoreError, StoreReader, StoreWriter, TrackedSession};

/// Seconds after its last change before an unfinished file of a dead process is deleted.
const LEFT_BEHIND_SECONDS: i64 = 3_600;

/// Maximum replaced databases that are kept, newest first.
const SET_ASIDE_MAX: usize = 4;

/// Maximum days that a replaced database is kept.
pub(crate) const SET_ASIDE_DAYS_MAX: i64 = 30;

/// Maximum days that the cost of single model calls is kept.
pub(crate) const SPEND_DAYS_MAX: i64 = 400;

/// Maximum days that the ledger of shown memories is kept.
pub(crate) const LEDGER_DAYS_MAX: i64 = 365;

/// Days before privacy marks, compactions and read positions of deleted transcripts may be removed.
/// A session is rarely resumed later.
pub(crate) const MARK_DAYS_MAX: i64 = 90;

/// Rows that one transaction of a sweep deletes. Hooks wait for no more than one such transaction.
pub(crate) const SWEEP_ROWS: u32 = 64;

const DAY_SECONDS: i64 = 86_400;

/// Calls `some` with a batch size until it deletes fewer rows than that, each time in its own
/// transaction, so that hooks never wait long. Returns the number of deleted rows.
pub(crate) fn delete_in_batches(
    store: &SharedStore,
    some: impl Fn(&StoreWriter<'_>, u32) -> Result<usize, StoreError>,
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

/// Deletes expired rows: model spend, compactions, the change feed, the ledger of shown memories,
/// and the read positions of transcripts that no longer exist.
pub(crate) fn delete_old_rows(store: &SharedStore, now: Millis) -> Result<(), StoreError> {
    let ago = |days: i64| now.plus_seconds(-days * DAY_SECONDS);
    delete_in_batches(store, |tx, max| tx.drop_spend_before(ago(SPEND_DAYS_MAX), max))?;
    delete_in_batches(store, |tx, max| tx.drop_compactions_before(ago(MARK_DAYS_MAX), max))?;
    delete_in_batches(store, |tx, max| tx.prune_changes(ROW_CHANGES_MAX, max))?;
    delete_in_batches(store, |tx, max| {
        let shown = tx.expired_feedback_ids(ago(LEDGER_DAYS_MAX), max)?;
        tx.delete_feedback(&shown)?;
        Ok(shown.len())
    })?;
    let read = store.with(|store| store.read().transcripts_read_before(ago(MARK_DAYS_MAX)))?;
    let gone: Vec<String> = read.into_iter().filter(|path| is_missing(Path::new(path))).collect();
    for some in gone.chunks(SWEEP_ROWS as usize) {
        store.with(|store| store.write(|tx| tx.drop_transcript_positions(some)))?;
    }
    Ok(())
}

/// Whether the file certainly does not exist. Any error but `NotFound` counts as existing.
fn is_missing(path: &Path) -> bool {
    let found = std::fs::symlink_metadata(path);
    found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Deletes privacy marks of turns and sessions that are over.
pub(crate) fn delete_old_privacy_marks(store: &SharedStore, now: Millis) -> Result<(), StoreError> {
    let before = now.plus_seconds(-MARK_DAYS_MAX * DAY_SECONDS);
    let muted = store.dir().muted();
    let io = |error| StoreError::Io(muted.display().to_string(), error);
    let old: Vec<PathBuf> = files_older_than(&muted, before).map_err(io)?;
    if old.is_empty() {
        return Ok(());
    }
    let (needed, closed) = store.with(|store| marks_in_use(&store.read(), before))?;
    for mark in old {
        let name = mark.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let (id, ending) = name.split_at_checked(32).unwrap_or((name, "?"));
        let goes = match ending {
            "" | ".past" | ".prompt" | ".words" | ".turns" => !needed.contains(id),
            // The store records the same permanently.
            ".ignored" | ".closed" => closed.contains(id),
            _ => false,
        };
        if goes {
            remove_if_exists(&mark).map_err(io)?;
        }
    }
    Ok(())
}

/// The mark names of sessions that may resume, and those of sessions whose transcripts the store
/// keeps closed.
fn marks_in_use(
    reads: &StoreReader<'_>,
    before: Millis,
) -> Result<(HashSet<String>, HashSet<String>), StoreError> {
    let (mut needed, mut closed) = (HashSet::new(), HashSet::new());
    for session in reads.tracked_sessions()? {
        let name = event_key::hex(&event_key::session_key(&session.client, &session.session));
        if session.is_closed {
            closed.insert(name.clone());
        }
        if may_resume(&session, before) {
            needed.insert(name);
            for prompt in reads.prompt_ids(&session.client, &session.session)? {
                let parts = [&session.client, &session.session, &prompt].map(String::as_bytes);
                needed.insert(event_key::hex(&event_key::digest(&parts)));
            }
        }
    }
    Ok((needed, closed))
}

/// Whether events of the session may still arrive: it was active recently or has a transcript.
fn may_resume(session: &TrackedSession, before: Millis) -> bool {
    let transcript = session.transcript_path.as_deref().map(Path::new);
    session.last_activity >= before || transcript.is_some_and(|path| !is_missing(path))
}

/// Deletes unfinished files of dead processes, and old databases that were set aside.
pub(crate) fn delete_leftover_files(dir: &DataDir, now: Millis) -> io::Result<()> {
    let before = now.plus_seconds(-LEFT_BEHIND_SECONDS);
    for place in [dir.root().to_owned(), dir.backups()] {
        for file in files_older_than(&place, before)? {
            if writer_pid(&file).is_some_and(|pid| !is_alive(pid)) {
                remove_if_exists(&file)?;
            }
        }
    }
    let mut aside: Vec<(Millis, PathBuf)> = files_older_than(&dir.backups(), Millis(i64::MAX))?
        .into_iter()
        .filter_map(|file| Some((set_aside_at(&file)?, file)))
        .collect();
    aside.sort_by(|a, b| b.cmp(a));
    let too_old = now.plus_seconds(-SET_ASIDE_DAYS_MAX * DAY_SECONDS);
    for (place, (at, file)) in aside.iter().enumerate() {
        if place >= SET_ASIDE_MAX || *at < too_old {
            for ending in ["-wal", "-shm", ""] {
                remove_if_exists(&with_suffix(file, ending))?;
            }
        }
    }
    Ok(())
}

/// Deletes redirect pages of viewer links that have expired.
pub(crate) fn delete_expired_link_pages(dir: &DataDir, now: Millis) -> io::Result<()> {
    let before = now.plus_seconds(-i64::try_from(HTTP_LINK_SECONDS).unwrap_or(i64::MAX));
    for file in files_older_than(dir.root(), before)? {
        let name = file.file_name().and_then(|name| name.to_str());
        let is_page = file.extension().is_some_and(|ending| ending == "html");
        if is_page && name.is_some_and(|name| name.starts_with(OPEN_PAGE_PREFIX)) {
            remove_if_exists(&file)?;
        }
    }
    Ok(())
}

/// The pid in the name of an unfinished file: `claude-mem.db.new-123`,
/// `claude-mem-….unfinished-123-journal`.
fn writer_pid(file: &Path) -> Option<i32> {
    let name = file.file_name()?.to_str()?;
    let (_, rest) = name.split_once(".unfinished-").or_else(|| name.split_once(".db.new-"))?;
    let digits = rest.split('-').next()?;
    digits.parse().ok()
}

fn is_alive(pid: i32) -> bool {
    let Some(pid) = rustix::process::Pid::from_raw(pid) else {
        return false;
    };
    rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}

/// When a `damaged-…` or `replaced-…` database in `backups/` was set aside.
fn set_aside_at(file: &Path) -> Option<Millis> {
    let name = file.file_name()?.to_str()?.strip_suffix(".db")?;
    let stamp = name.strip_prefix("damaged-").or_else(|| name.strip_prefix("replaced-"))?;
    backups::parse_stamp(stamp.split('-').next()?)
}

/// The files of a directory that were last modified before `before`.
fn files_older_than(dir: &Path, before: Millis) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let about = match entry.metadata() {
            // Another process deleted it meanwhile.
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            about => about?,
        };
        if about.is_file() && to_millis(about.modified()?) < before {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn to_millis(at: SystemTime) -> Millis {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
#[path = "retention_tests.rs"]
mod tests;
