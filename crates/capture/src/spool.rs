//! The spool: one file per event, written by hooks and drained by a process that has the database
//! open.
//!
//! [`write_entry`] adds a [`SpoolEntry`], redacted like everything that leaves a hook;
//! [`read_pending`] returns the oldest ones as [`PendingEntry`]. A file is written under a temporary
//! name and renamed, because a killed process leaves partial writes. It is removed only after its
//! event is committed, and the event's key makes reading it twice harmless.
//!
//! Why files instead of rows: opening the database makes SQLite parse the whole schema, which is two
//! thirds of a hook's total work, and concurrent hooks would wait for each other's lock. A file needs
//! neither, and no corrupt, locked, foreign or newer database can reject it.

use std::fs::{self, DirEntry};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub use crate::spool_entry::SpoolEntry;
use crate::spool_entry::describe_json_error;
use claude_mem_core::clock::Micros;
use claude_mem_core::limits::SPOOL_FILE_BYTES_MAX;
use claude_mem_core::paths;
use claude_mem_core::paths::{DataDir, remove_if_exists};
use claude_mem_store::StoreError;

/// Maximum spool files that are listed and sorted at a time.
const SPOOL_LIST_MAX: usize = 1_024;

/// An entry that was read and whose file still exists.
#[derive(Debug)]
pub struct PendingEntry {
    path: PathBuf,
    pub entry: SpoolEntry<'static>,
}

/// Writes one entry. Once this returns `Ok`, killing the process cannot lose it.
pub fn write_entry(dir: &DataDir, at: Micros, entry: &SpoolEntry<'_>) -> io::Result<()> {
    let name = entry.file_name(at);
    let mut bytes = entry.to_json()?;
    if bytes.len() as u64 > SPOOL_FILE_BYTES_MAX {
        // No reader would accept it. Keep the fact that the call happened, without its contents.
        bytes = entry.without_contents().to_json()?;
    }
    let spool = dir.spool();
    let unfinished = spool.join(format!(".{name}.{}", std::process::id()));
    let mut file = create_unfinished(dir, &unfinished)?;
    let written = file.write_all(&bytes).and_then(|()| fs::rename(&unfinished, spool.join(name)));
    if written.is_err() {
        // Report the first error. A leftover file is never read as an entry.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

fn create_unfinished(dir: &DataDir, unfinished: &Path) -> io::Result<fs::File> {
    match paths::create_file(unfinished) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => dir.create()?,
        // Left behind by a dead process that had our process id.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => remove_if_exists(unfinished)?,
        made => return made,
    }
    paths::create_file(unfinished)
}

/// Reads the oldest entries, at most `entries_max`. An invalid file is set aside, so that it is not
/// retried for ever. A file that cannot be read at the moment stays; that is an error only if no
/// other entry was read.
pub fn read_pending(dir: &DataDir, entries_max: usize) -> io::Result<Vec<PendingEntry>> {
    let mut pending = Vec::new();
    let mut unread = None;
    for path in pending_files(&dir.spool())? {
        if pending.len() == entries_max {
            break;
        }
        match read_entry(&path) {
            Ok(entry) => pending.push(PendingEntry { path, entry }),
            Err(EntryReadError::Gone) => {}
            Err(EntryReadError::Invalid(why)) => match set_aside(&path) {
                Ok(()) => log_set_aside(dir, &path, &why),
                // It stays and is never read, like a file of another user in a sticky directory.
                Err(e) => {
                    log_set_aside(dir, &path, &format!("{why}; it could not be renamed: {e}"));
                }
            },
            Err(EntryReadError::Transient(e)) => {
                unread.get_or_insert(e);
            }
        }
    }
    match unread {
        Some(e) if pending.is_empty() => Err(e),
        _ => Ok(pending),
    }
}

/// Why an entry was not read.
enum EntryReadError {
    /// Another process removed it first.
    Gone,
    /// This version can never read it.
    Invalid(String),
    /// A later attempt may succeed.
    Transient(io::Error),
}

impl PendingEntry {
    /// Removes the file after the entry is committed.
    pub fn acknowledge(&self) -> io::Result<()> {
        remove_if_exists(&self.path)
    }

    /// Sets the file aside because the database rejects its entry permanently.
    pub fn reject(&self, dir: &DataDir, why: &StoreError) -> io::Result<()> {
        set_aside(&self.path)?;
        let why = match why {
            StoreError::Json(error) => describe_json_error(error),
            why => why.to_string(),
        };
        log_set_aside(dir, &self.path, &why);
        Ok(())
    }
}

/// Removes unfinished files that were started before `before`: their processes died, and no hook
/// reported success for them. Returns the number of removed files.
pub fn remove_unfinished(dir: &DataDir, before: Micros) -> io::Result<usize> {
    let entries = match fs::read_dir(dir.spool()) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut swept = 0;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let begun = name.to_str().and_then(unfinished_since);
        if begun.is_some_and(|begun| begun < before) {
            remove_if_exists(&entry.path())?;
            swept += 1;
        }
    }
    Ok(swept)
}

/// The start time of an unfinished file, parsed from its name.
fn unfinished_since(name: &str) -> Option<Micros> {
    let (at, _) = name.strip_prefix('.')?.split_once('-')?;
    at.parse().ok().map(Micros)
}

/// Whether no entry is pending.
pub fn is_empty(dir: &DataDir) -> io::Result<bool> {
    Ok(pending_files(&dir.spool())?.is_empty())
}

/// Whether more than `entries_max` entries are pending. Lists the directory and sorts nothing.
pub fn holds_more_than(dir: &DataDir, entries_max: usize) -> io::Result<bool> {
    Ok(waiting_files(&dir.spool())?.into_iter().flatten().nth(entries_max).transpose()?.is_some())
}

/// When the newest pending event was reported, of all clients or of one. Changes nothing; files that cannot be read
/// as events do not count.
pub fn newest_event(dir: &DataDir, client: Option<&str>) -> io::Result<Option<Micros>> {
    let files = pending_files(&dir.spool())?;
    Ok(files.iter().rev().find_map(|path| match read_entry(path) {
        Ok(SpoolEntry::Event(_, event)) if client.is_none_or(|client| event.client == client) => {
            Some(event.at)
        }
        _ => None,
    }))
}

/// The pending files, oldest first; at most `SPOOL_LIST_MAX` of them.
fn pending_files(spool: &Path) -> io::Result<Vec<PathBuf>> {
    // A listing that fails half-way is an error: it does not show every pending file.
    let files = waiting_files(spool)?.into_iter().flatten().take(SPOOL_LIST_MAX);
    let mut paths = files.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

/// The pending files in the order of the directory; `None` if there is no spool.
fn waiting_files(spool: &Path) -> io::Result<Option<impl Iterator<Item = io::Result<DirEntry>> + use<>>> {
    let entries = match fs::read_dir(spool) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries?,
    };
    let is_waiting = |entry: &DirEntry| {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        // A file that another version set aside may be valid for this one.
        let to_try = name.ends_with(b".json")
            || (name.ends_with(b".bad") && !name.ends_with(SET_ASIDE_SUFFIX.as_bytes()));
        to_try && !name.starts_with(b".")
    };
    Ok(Some(entries.filter(move |entry| entry.as_ref().map_or(true, is_waiting))))
}

fn read_entry(path: &Path) -> Result<SpoolEntry<'static>, EntryReadError> {
    let file = paths::open_file(path).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => EntryReadError::Gone,
        io::ErrorKind::InvalidInput => EntryReadError::Invalid("not a regular file".to_owned()),
        _ => EntryReadError::Transient(e),
    })?;
    let about = file.metadata().map_err(EntryReadError::Transient)?;
    if about.uid() != rustix::process::geteuid().as_raw() {
        return Err(EntryReadError::Invalid("belongs to another user".to_owned()));
    }
    let mut bytes = Vec::new();
    let read = file.take(SPOOL_FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(EntryReadError::Transient)?;
    if bytes.len() as u64 > SPOOL_FILE_BYTES_MAX {
        return Err(EntryReadError::Invalid("too long".to_owned()));
    }
    SpoolEntry::from_json(&bytes).map_err(|why| EntryReadError::Invalid(why.to_string()))
}

/// Logs the reason to the hook log, whichever process found it: it is recorded nowhere else.
fn log_set_aside(dir: &DataDir, path: &Path, why: &str) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let text = format!("event set aside: {name}: {why}");
    crate::hook_log::log_warning(dir, claude_mem_core::clock::now(), &text);
}

/// File name suffix of entries that this version cannot accept. Another version retries them once.
const SET_ASIDE_SUFFIX: &str = concat!(".", env!("CARGO_PKG_VERSION"), ".bad");

/// Renames a file so that this version skips it; a person or a later version may still read it.
fn set_aside(path: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    match fs::rename(path, path.with_file_name([stem, SET_ASIDE_SUFFIX].concat())) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "spool_tests.rs"]
mod tests;
