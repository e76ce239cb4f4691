//! The waiting room for events that no database could take: one file each.
//!
//! In: an event with its key, redacted like everything that leaves the hook. Out: the same event,
//! handed to a database by the next process that has one. A file is written under another name
//! and renamed, because a killed process leaves half of what it appends; it is removed only after
//! its event was committed, and an event that is taken in twice is one event, by its key.

use std::borrow::Cow;
use std::fs::{self, DirEntry};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::event::{Event, EventKey};
use super::key;
use crate::clock::Micros;
use crate::ids::ClientSessionId;
use crate::limits::{SPOOL_FILE_BYTES_MAX, SPOOL_LIST_MAX};
use crate::paths::{self, DataDir};

/// What a spool file holds. Read by later versions: fields are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(
    clippy::large_enum_variant,
    reason = "one at a time, and nearly always the large one"
)]
pub enum Spooled<'a> {
    Event {
        /// Computed once: a later version may not arrive at the same one.
        key: String,
        event: Cow<'a, Event>,
    },
    /// A session that asked not to be remembered.
    Ignore {
        client: String,
        session: ClientSessionId,
    },
}

/// What became of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Committed: the file can go.
    Stored,
    /// This one can never be stored: it is set aside.
    Refused,
    /// Not now, and no other either.
    Unable,
}

/// How a round through the spool went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub stored: usize,
    pub set_aside: usize,
}

/// Writes one file. When this returns, a killed process can no longer lose it.
pub fn put(dir: &DataDir, at: Micros, spooled: &Spooled<'_>) -> io::Result<()> {
    let name = name_of(at, spooled);
    let bytes = serde_json::to_vec(spooled)?;
    let spool = dir.spool();
    let unfinished = spool.join(format!(".{name}.{}", std::process::id()));
    let mut file = create(&spool, &unfinished)?;
    let written = file
        .write_all(&bytes)
        .and_then(|()| fs::rename(&unfinished, spool.join(name)));
    if written.is_err() {
        // The first error is the one that counts; what is left behind has no reader.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

fn create(spool: &Path, unfinished: &Path) -> io::Result<fs::File> {
    match paths::create_file(unfinished) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => paths::create_dir(spool)?,
        // A process of our number died over it.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => remove(unfinished)?,
        made => return made,
    }
    paths::create_file(unfinished)
}

/// Sorted by time. The same event spooled twice is one file.
fn name_of(at: Micros, spooled: &Spooled<'_>) -> String {
    let name = match spooled {
        Spooled::Event { key, .. } => key.clone(),
        Spooled::Ignore { client, session } => key::hex(&key::session(client, &session.0)),
    };
    format!("{:020}-{name}.json", at.0.max(0))
}

/// Hands the oldest files to `store`, at most `files_max`, while `go_on` says so.
pub fn take_in(
    dir: &DataDir,
    files_max: usize,
    mut go_on: impl FnMut() -> bool,
    mut store: impl FnMut(&Spooled<'_>) -> Taken,
) -> io::Result<Report> {
    let mut report = Report::default();
    for path in waiting(&dir.spool())?.into_iter().take(files_max) {
        if !go_on() {
            break;
        }
        let taken = match read(&path) {
            Ok(Some(spooled)) => store(&spooled),
            // Another process was faster.
            Ok(None) => continue,
            Err(_) => Taken::Refused,
        };
        match taken {
            Taken::Stored => {
                remove(&path)?;
                report.stored += 1;
            }
            Taken::Refused => {
                set_aside(&path)?;
                report.set_aside += 1;
            }
            Taken::Unable => break,
        }
    }
    Ok(report)
}

/// Whether nothing waits.
pub fn is_empty(dir: &DataDir) -> io::Result<bool> {
    Ok(waiting(&dir.spool())?.is_empty())
}

/// The files that wait, oldest first; of a very full spool, some.
fn waiting(spool: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(spool) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let is_waiting = |entry: &DirEntry| {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        name.ends_with(b".json") && !name.starts_with(b".")
    };
    let mut paths: Vec<_> = entries
        .filter_map(Result::ok)
        .filter(is_waiting)
        .take(SPOOL_LIST_MAX)
        .map(|entry| entry.path())
        .collect();
    paths.sort_unstable();
    Ok(paths)
}

/// `None`: it is gone.
fn read(path: &Path) -> io::Result<Option<Spooled<'static>>> {
    let file = match fs::File::open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(SPOOL_FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > SPOOL_FILE_BYTES_MAX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(Some(serde_json::from_slice(&bytes)?))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Out of everybody's way, but not gone: a person may want to look.
fn set_aside(path: &Path) -> io::Result<()> {
    match fs::rename(path, path.with_extension("bad")) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

impl<'a> Spooled<'a> {
    pub fn event(key: EventKey, event: &'a Event) -> Self {
        Self::Event {
            key: key::hex(&key.0),
            event: Cow::Borrowed(event),
        }
    }
}

#[cfg(test)]
#[path = "spool_tests.rs"]
mod tests;
