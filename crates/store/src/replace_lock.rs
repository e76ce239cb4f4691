//! File locks that keep writers away while the database is replaced.
//!
//! SQLite's locks are inside the database file. A process that has it open would keep writing to a
//! file that was moved away, or pair the new file with the old write-ahead log. So every writer
//! holds a [`SharedLock`] on a file beside the database, and replacing the database takes the
//! [`ExclusiveLock`].

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::StoreError;
use claude_mem_core::paths::{append_file, open_file, with_suffix};

/// Held for as long as a database is open for writing.
#[derive(Debug)]
pub(super) struct SharedLock {
    _file: File,
}

/// Held while the database is replaced; excludes all writers.
#[derive(Debug)]
pub struct ExclusiveLock {
    _file: File,
}

impl SharedLock {
    /// Takes the lock without waiting. `Busy`: the database is being replaced.
    pub(super) fn acquire(database: &Path) -> Result<Self, StoreError> {
        let file = open_lock_file(database)?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(Self { _file: file }),
            Err(Errno::WOULDBLOCK) => Err(StoreError::Busy),
            Err(e) => Err(StoreError::io(database.display(), e.into())),
        }
    }
}

impl ExclusiveLock {
    /// Waits until no process has the database open for writing. `Busy`: a writer remained.
    pub fn acquire(database: &Path, within: Duration) -> Result<Self, StoreError> {
        let file = open_lock_file(database)?;
        let until = Instant::now() + within;
        loop {
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { _file: file }),
                Err(Errno::WOULDBLOCK) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(Errno::WOULDBLOCK) => return Err(StoreError::Busy),
                Err(e) => return Err(StoreError::io(database.display(), e.into())),
            }
        }
    }
}

fn open_lock_file(database: &Path) -> Result<File, StoreError> {
    let path = lock_path(database);
    let opened = match open_file(&path) {
        Err(e) if e.kind() == ErrorKind::NotFound => append_file(&path),
        opened => opened,
    };
    opened.map_err(|e| StoreError::io(path.display(), e))
}

fn lock_path(database: &Path) -> PathBuf {
    with_suffix(database, ".gate")
}
