//! The letterbox: one file per event, put in by hooks, taken out by whoever has the database open.
//!
//! In: an event with its key, redacted like everything that leaves a hook. Out: the same event,
//! for the queue. A file is written under another name and renamed, because a killed process
//! leaves half of what it appends; it is removed only after its event was committed, and an event
//! that is taken out twice is one event, by its key.
//!
//! Why files, and not rows at once: opening the database makes SQLite parse the whole schema,
//! which is two thirds of all that a hook would do, and hooks that run at once would wait for each
//! other's lock. A file needs neither, and no damaged, locked, foreign or newer database can
//! refuse it.

use std::borrow::Cow;
use std::fs::{self, DirEntry};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::{Body, Event, EventKey};
use super::key;
use crate::clock::Micros;
use crate::ids::ClientSessionId;
use crate::limits::{SPOOL_FILE_BYTES_MAX, SPOOL_LIST_MAX};
use crate::paths::{self, DataDir};
use crate::store::StoreError;

/// What one file says.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "one at a time, and nearly always the large one"
)]
pub enum Letter<'a> {
    /// The key is computed once: a later version may not arrive at the same one.
    Event(EventKey, Cow<'a, Event>),
    /// A session that asked not to be remembered.
    Ignore(String, ClientSessionId),
}

/// The same as JSON. Read by later versions: fields are only ever added.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "as above")]
enum Written<'a> {
    Event {
        key: String,
        event: Cow<'a, Event>,
    },
    Ignore {
        client: String,
        session: ClientSessionId,
    },
}

/// A letter that was taken out, and still lies in its place.
#[derive(Debug)]
pub struct Opened {
    path: PathBuf,
    pub letter: Letter<'static>,
}

/// Puts one letter in. When this returns, a killed process can no longer lose it.
pub fn put(dir: &DataDir, at: Micros, letter: &Letter<'_>) -> io::Result<()> {
    let name = letter.file_name(at);
    let mut bytes = letter.to_json()?;
    if bytes.len() as u64 > SPOOL_FILE_BYTES_MAX {
        // Nobody would read it. That it happened is worth more than what it said.
        bytes = letter.without_contents().to_json()?;
    }
    let spool = dir.spool();
    let unfinished = spool.join(format!(".{name}.{}", std::process::id()));
    let mut file = create(dir, &unfinished)?;
    let written = file
        .write_all(&bytes)
        .and_then(|()| fs::rename(&unfinished, spool.join(name)));
    if written.is_err() {
        // The first error is the one that counts; what is left behind has no reader.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

fn create(dir: &DataDir, unfinished: &Path) -> io::Result<fs::File> {
    match paths::create_file(unfinished) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => dir.create()?,
        // A process of our number died over it.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => remove(unfinished)?,
        made => return made,
    }
    paths::create_file(unfinished)
}

/// Opens the oldest letters, at most so many. What is no letter is set aside, so that nobody
/// tries it for ever. One that could not be read this time stays where it is; it is an error
/// only if there is nothing else.
pub fn open(dir: &DataDir, letters_max: usize) -> io::Result<Vec<Opened>> {
    let mut opened = Vec::new();
    let mut unread = None;
    for path in waiting(&dir.spool())? {
        if opened.len() == letters_max {
            break;
        }
        match read(&path) {
            Ok(letter) => opened.push(Opened { path, letter }),
            Err(Unread::Gone) => {}
            Err(Unread::NoLetter(why)) => {
                set_aside(&path)?;
                say_set_aside(dir, &path, &why);
            }
            Err(Unread::NotNow(e)) => {
                unread.get_or_insert(e);
            }
        }
    }
    match unread {
        Some(e) if opened.is_empty() => Err(e),
        _ => Ok(opened),
    }
}

/// Why a letter was not read.
enum Unread {
    /// Another process was faster.
    Gone,
    /// Not by this version, however often it is tried.
    NoLetter(String),
    NotNow(io::Error),
}

impl Opened {
    /// It is committed: the file can go.
    pub fn done(&self) -> io::Result<()> {
        remove(&self.path)
    }

    /// The database will never take this one.
    pub fn refuse(&self, dir: &DataDir, why: &StoreError) -> io::Result<()> {
        set_aside(&self.path)?;
        let why = match why {
            StoreError::Json(error) => without_contents(error),
            why => why.to_string(),
        };
        say_set_aside(dir, &self.path, &why);
        Ok(())
    }
}

/// Removes what processes left unfinished that died over it before `before`: no hook has
/// vouched for it. Says how many files went.
pub fn sweep(dir: &DataDir, before: Micros) -> io::Result<usize> {
    let entries = match fs::read_dir(dir.spool()) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut swept = 0;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let begun = name.to_str().and_then(begun_at);
        if begun.is_some_and(|begun| begun < before) {
            remove(&entry.path())?;
            swept += 1;
        }
    }
    Ok(swept)
}

/// When an unfinished file was begun, by its name.
fn begun_at(name: &str) -> Option<Micros> {
    let (at, _) = name.strip_prefix('.')?.split_once('-')?;
    at.parse().ok().map(Micros)
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
        // What another version set aside may be a letter to this one.
        let to_try = name.ends_with(b".json")
            || (name.ends_with(b".bad") && !name.ends_with(SET_ASIDE.as_bytes()));
        to_try && !name.starts_with(b".")
    };
    // A listing that breaks off half-way is not all that waits.
    let mut paths = entries
        .filter(|entry| entry.as_ref().map_or(true, is_waiting))
        .take(SPOOL_LIST_MAX)
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

fn read(path: &Path) -> Result<Letter<'static>, Unread> {
    let file = fs::File::open(path).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => Unread::Gone,
        _ => Unread::NotNow(e),
    })?;
    let mut bytes = Vec::new();
    let read = file.take(SPOOL_FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|e| match e.kind() {
        io::ErrorKind::IsADirectory => Unread::NoLetter("it is a directory".to_owned()),
        _ => Unread::NotNow(e),
    })?;
    if bytes.len() as u64 > SPOOL_FILE_BYTES_MAX {
        return Err(Unread::NoLetter("it is too long".to_owned()));
    }
    Letter::from_json(&bytes).map_err(|why| Unread::NoLetter(why.to_string()))
}

/// In the log of hooks, whoever did it: nobody else will ever tell why.
fn say_set_aside(dir: &DataDir, path: &Path, why: &str) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let text = format!("an event was set aside: {name}: {why}");
    super::log::line(dir, crate::clock::now(), &text);
}

/// Where it does not read, and not what stands there.
fn without_contents(error: &serde_json::Error) -> String {
    let (kind, line, column) = (error.classify(), error.line(), error.column());
    format!("it is not as it should be ({kind:?} at {line}:{column})")
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// The ending of what this version cannot take. Another version tries it once more.
const SET_ASIDE: &str = concat!(".", env!("CARGO_PKG_VERSION"), ".bad");

/// Out of everybody's way, but not gone: a person, or a later version, may want to look.
fn set_aside(path: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    match fs::rename(path, path.with_file_name([stem, SET_ASIDE].concat())) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

impl Letter<'_> {
    /// The same, of a tool's call without what went in and what came out.
    fn without_contents(&self) -> Letter<'static> {
        match self {
            Self::Ignore(client, session) => Letter::Ignore(client.clone(), session.clone()),
            Self::Event(key, event) => {
                let mut event = event.as_ref().clone();
                if let Body::ToolUse { input, output, .. } = &mut event.body {
                    (*input, *output) = (Value::Null, Value::Null);
                    event.cut = true;
                }
                Letter::Event(*key, Cow::Owned(event))
            }
        }
    }

    /// Sorted by time. The same event put in twice is one file.
    fn file_name(&self, at: Micros) -> String {
        let name = match self {
            Self::Event(key, _) => key.0,
            Self::Ignore(client, session) => key::session(client, &session.0),
        };
        format!("{:020}-{}.json", at.0.max(0), key::hex(&name))
    }

    fn to_json(&self) -> io::Result<Vec<u8>> {
        let written = match self {
            Self::Event(key, event) => Written::Event {
                key: key::hex(&key.0),
                event: Cow::Borrowed(event.as_ref()),
            },
            Self::Ignore(client, session) => Written::Ignore {
                client: client.clone(),
                session: session.clone(),
            },
        };
        Ok(serde_json::to_vec(&written)?)
    }
}

impl Letter<'static> {
    fn from_json(bytes: &[u8]) -> io::Result<Self> {
        let read = serde_json::from_slice(bytes);
        match read.map_err(|e| io::Error::other(without_contents(&e)))? {
            Written::Event { key, event } => {
                let key = key::from_hex(&key).ok_or(io::ErrorKind::InvalidData)?;
                Ok(Self::Event(EventKey(key), Cow::Owned(event.into_owned())))
            }
            Written::Ignore { client, session } => Ok(Self::Ignore(client, session)),
        }
    }
}

#[cfg(test)]
#[path = "spool_tests.rs"]
mod tests;
