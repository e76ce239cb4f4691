//! A door that everyone who writes goes through, so that the database can be replaced.
//!
//! SQLite's own locks lie inside the file, and a process that has it open goes on writing to a
//! file that was moved away, or pairs the new one with its old log. So whoever writes holds a
//! shared lock on a file beside the database, and whoever replaces the database an exclusive one.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::StoreError;

/// Held as long as a database is open for writing.
#[derive(Debug)]
pub(super) struct Pass {
    _file: File,
}

/// Held while nobody may write.
#[derive(Debug)]
pub struct Gate {
    _file: File,
}

impl Pass {
    /// `Busy`: the database is being replaced.
    pub(super) fn enter(database: &Path) -> Result<Self, StoreError> {
        let file = open(database)?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(Self { _file: file }),
            Err(Errno::WOULDBLOCK) => Err(StoreError::Busy),
            Err(e) => Err(StoreError::io(database.display(), e.into())),
        }
    }
}

impl Gate {
    /// Waits until nobody has the database open for writing. `Busy`: somebody still has.
    pub fn close(database: &Path, within: Duration) -> Result<Self, StoreError> {
        let file = open(database)?;
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

fn open(database: &Path) -> Result<File, StoreError> {
    let path = beside(database);
    let opened = match File::open(&path) {
        Err(e) if e.kind() == ErrorKind::NotFound => OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path),
        opened => opened,
    };
    opened.map_err(|e| StoreError::io(path.display(), e))
}

fn beside(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(".gate");
    path.into()
}
