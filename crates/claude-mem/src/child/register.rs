//! The children that are alive, on disk, so that whoever comes after us can end them.
//!
//! One file per child. A file that cannot be read, or that speaks of another run of the machine,
//! means nothing and is removed.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use super::identity::{Identity, boot};

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
        let mut file = fs::File::options()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)?;
        file.write_all(&serde_json::to_vec(&entry)?)?;
        Ok(path)
    }

    /// Ends every registered process whose owner is gone, and forgets those that are gone
    /// themselves. A pid that now belongs to somebody else is left alone.
    pub fn reap(&self) -> io::Result<Vec<Reaped>> {
        let boot = boot();
        let mut reaped = Vec::new();
        for file in fs::read_dir(&self.directory)? {
            let path = file?.path();
            let entry = fs::read(&path)
                .ok()
                .and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let entry: Option<Entry> = entry.filter(|entry: &Entry| entry.boot == boot);
            match entry {
                Some(entry) if entry.owner.is_alive() && entry.child.is_alive() => continue,
                Some(entry) if !entry.owner.is_alive() && end(entry.child) => {
                    reaped.push(Reaped(entry.child));
                }
                _ => {}
            }
            match fs::remove_file(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        Ok(reaped)
    }
}

/// Kills exactly this process and its group; false if it is gone. The descriptor keeps the pid
/// from being given to another process between the look and the kill.
fn end(child: Identity) -> bool {
    let Some(pid) = i32::try_from(child.pid).ok().and_then(Pid::from_raw) else {
        return false;
    };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
        return false;
    };
    if !child.is_alive() {
        return false;
    }
    // The group first, while its leader is certainly still the one we mean.
    let group = kill_process_group(pid, Signal::KILL);
    pidfd_send_signal(&handle, Signal::KILL).is_ok() || group.is_ok()
}

#[cfg(test)]
#[path = "register_tests.rs"]
mod tests;
