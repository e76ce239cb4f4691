//! The on-disk registry of live children, so that a later process can kill orphans.
//!
//! One file per child. A file that is malformed or from another boot is removed; one that cannot be
//! read now stays.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::identity::ProcessIdentity;
use crate::paths;
use crate::platform::{self, boot_id};

/// The registry's directory.
#[derive(Clone, Debug)]
pub struct ChildRegistry {
    directory: PathBuf,
}

/// The content of a registry file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RegistryEntry {
    child: ProcessIdentity,
    owner: ProcessIdentity,
    boot: String,
}

/// A process whose owner was gone and that was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReapedChild(pub ProcessIdentity);

impl ChildRegistry {
    /// Opens the registry and creates its directory if necessary.
    pub fn open(directory: &Path) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        Ok(Self { directory: directory.to_owned() })
    }

    pub(super) fn add(&self, child: ProcessIdentity) -> io::Result<PathBuf> {
        let owner = ProcessIdentity::current().ok_or(io::ErrorKind::NotFound)?;
        let entry = RegistryEntry { child, owner, boot: boot_id() };
        let path = self.directory.join(format!("{}-{}", child.pid, child.start_ticks));
        // Atomically: a reaper may read it at any time.
        paths::replace_file(&path, &serde_json::to_vec(&entry)?)?;
        Ok(path)
    }

    /// Kills every registered process whose owner is gone, and removes the entries of processes
    /// that are gone. A pid that was reused by another process is left alone.
    ///
    /// Entries that cannot be examined or killed now stay for the next call.
    pub fn reap(&self) -> io::Result<Vec<ReapedChild>> {
        let boot = boot_id();
        let mut reaped = Vec::new();
        let mut failed = None;
        for file in fs::read_dir(&self.directory)? {
            let path = file?.path();
            // It is being written.
            if path.to_string_lossy().contains(".unfinished-") {
                continue;
            }
            match examine_entry(&path, &boot) {
                Ok(EntryOutcome::Keep) => continue,
                Ok(EntryOutcome::Stale) => {}
                Ok(EntryOutcome::Killed(child)) => reaped.push(ReapedChild(child)),
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

/// The outcome of examining one entry of the register.
enum EntryOutcome {
    Keep,
    /// The process it names is gone.
    Stale,
    Killed(ProcessIdentity),
}

fn examine_entry(path: &Path, boot: &str) -> io::Result<EntryOutcome> {
    let bytes = match crate::files::read_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(EntryOutcome::Keep),
        bytes => bytes?,
    };
    // From another boot, or malformed.
    let entry = serde_json::from_slice(&bytes).ok();
    let Some(entry) = entry.filter(|entry: &RegistryEntry| entry.boot == boot) else {
        return Ok(EntryOutcome::Stale);
    };
    Ok(match entry.owner.is_alive() {
        true if entry.child.is_alive() => EntryOutcome::Keep,
        false if platform::kill_process_and_group(entry.child.pid, || entry.child.is_alive())? => {
            EntryOutcome::Killed(entry.child)
        }
        _ => EntryOutcome::Stale,
    })
}

#[cfg(test)]
#[path = "register_tests.rs"]
mod tests;
