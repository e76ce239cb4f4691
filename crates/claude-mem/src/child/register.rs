//! The children that are alive, on disk, so that whoever comes after us can end them.
//!
//! One file per child. A file that says nothing, or that speaks of another run of the machine,
//! means nothing and is removed; one that cannot be read just now stays.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use super::identity::{Identity, boot};
use crate::paths;

/// The directory of the register.
#[derive(Clone, Debug)]
pub struct Register {
    directory: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    child: Identity,
    owner: Identity,
    boot: String,
}

/// A process that had lost its owner and was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reaped(pub Identity);

impl Register {
    /// Opens the register, making its directory if need be.
    pub fn open(directory: &Path) -> io::Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)?;
        Ok(Self {
            directory: directory.to_owned(),
        })
    }

    pub(super) fn add(&self, child: Identity) -> io::Result<PathBuf> {
        let owner = Identity::own().ok_or(io::ErrorKind::NotFound)?;
        let entry = Entry {
            child,
            owner,
            boot: boot(),
        };
        let path = self
            .directory
            .join(format!("{}-{}", child.pid, child.start_ticks));
        // Whole from the first moment on: the one who reaps may come by at any time.
        paths::replace_file(&path, &serde_json::to_vec(&entry)?)?;
        Ok(path)
    }

    /// Ends every registered process whose owner is gone, and forgets those that are gone
    /// themselves. A pid that now belongs to somebody else is left alone.
    ///
    /// What could not be looked at or ended this time stays, for the next.
    pub fn reap(&self) -> io::Result<Vec<Reaped>> {
        let boot = boot();
        let mut reaped = Vec::new();
        let mut failed = None;
        for file in fs::read_dir(&self.directory)? {
            let path = file?.path();
            // Somebody is just writing it.
            if path.to_string_lossy().contains(".unfinished-") {
                continue;
            }
            match over(&path, &boot) {
                Ok(Entered::Stays) => continue,
                Ok(Entered::IsOver) => {}
                Ok(Entered::Ended(child)) => reaped.push(Reaped(child)),
                Err(e) => {
                    failed.get_or_insert(e);
                    continue;
                }
            }
            match fs::remove_file(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        match failed {
            Some(error) if reaped.is_empty() => Err(error),
            _ => Ok(reaped),
        }
    }
}

/// What became of an entry.
enum Entered {
    Stays,
    /// It speaks of nobody who is there.
    IsOver,
    Ended(Identity),
}

fn over(path: &Path, boot: &str) -> io::Result<Entered> {
    let bytes = match fs::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Entered::Stays),
        bytes => bytes?,
    };
    // Of an earlier start of this machine, or of nobody.
    let entry = serde_json::from_slice(&bytes).ok();
    let Some(entry) = entry.filter(|entry: &Entry| entry.boot == boot) else {
        return Ok(Entered::IsOver);
    };
    Ok(match entry.owner.is_alive() {
        true if entry.child.is_alive() => Entered::Stays,
        false if end(entry.child)? => Entered::Ended(entry.child),
        _ => Entered::IsOver,
    })
}

/// Kills exactly this process and its group; false if it is gone. The descriptor keeps the pid
/// from being given to another process between the look and the kill.
fn end(child: Identity) -> io::Result<bool> {
    let Some(pid) = i32::try_from(child.pid).ok().and_then(Pid::from_raw) else {
        return Ok(false);
    };
    let handle = match pidfd_open(pid, PidfdFlags::empty()) {
        Err(Errno::SRCH) => return Ok(false),
        handle => handle?,
    };
    if !child.is_alive() {
        return Ok(false);
    }
    // The group first, while its leader is certainly still the one we mean.
    let group = kill_process_group(pid, Signal::KILL);
    Ok(pidfd_send_signal(&handle, Signal::KILL).is_ok() || group.is_ok())
}

#[cfg(test)]
#[path = "register_tests.rs"]
mod tests;
