//! Detects that the worker's executable file was replaced by another version, or removed.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Metadata that changes when the file is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ExecutableStamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

/// A change of the executable's file since the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExecutableChange {
    Replaced,
    /// Package managers that install each version into a directory of its own remove the old one.
    Removed,
}

/// Polls after which a missing file counts as removed: an update in place takes seconds.
const MISSING_POLLS_MAX: u32 = 3;

/// Polls one file for replacement.
#[derive(Debug)]
pub(crate) struct ExecutableWatch {
    path: PathBuf,
    at_start: Option<ExecutableStamp>,
    last_seen: Option<ExecutableStamp>,
    missing_polls: u32,
}

impl ExecutableWatch {
    /// Remembers the file as it is now.
    pub(crate) fn watch(path: PathBuf) -> Self {
        let stamp = read_stamp(&path);
        Self { path, at_start: stamp, last_seen: stamp, missing_polls: 0 }
    }

    /// The change since the start, once the file has not changed since the previous call: a file that is
    /// still being written does not count, nor does one that is missing for a moment.
    pub(crate) fn poll(&mut self) -> Option<ExecutableChange> {
        let now = read_stamp(&self.path);
        let still = now == self.last_seen;
        self.last_seen = now;
        self.missing_polls = if now.is_none() { self.missing_polls + 1 } else { 0 };
        self.at_start?;
        if self.missing_polls >= MISSING_POLLS_MAX {
            return Some(ExecutableChange::Removed);
        }
        (still && now.is_some() && now != self.at_start).then_some(ExecutableChange::Replaced)
    }
}

fn read_stamp(path: &Path) -> Option<ExecutableStamp> {
    let meta = std::fs::metadata(path).ok()?;
    Some(ExecutableStamp {
        inode: meta.ino(),
        bytes: meta.len(),
        modified: (meta.mtime(), meta.mtime_nsec()),
    })
}

#[cfg(test)]
mod tests {
    use super::{ExecutableChange, ExecutableWatch, MISSING_POLLS_MAX};

    #[test]
    fn replaced_file_counts_once_it_is_stable() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("claude-mem");
        std::fs::write(&path, "old").unwrap();
        let mut executable = ExecutableWatch::watch(path.clone());
        assert_eq!(executable.poll(), None);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(executable.poll(), None);
        assert_eq!(executable.poll(), None);
        std::fs::write(&path, "half").unwrap();
        assert_eq!(executable.poll(), None);
        std::fs::write(&path, "the whole new one").unwrap();
        assert_eq!(executable.poll(), None);
        assert_eq!(executable.poll(), Some(ExecutableChange::Replaced));
    }

    #[test]
    fn missing_file_counts_as_removed_after_some_polls() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("claude-mem");
        std::fs::write(&path, "old").unwrap();
        let mut executable = ExecutableWatch::watch(path.clone());
        std::fs::remove_file(&path).unwrap();
        for _ in 1..MISSING_POLLS_MAX {
            assert_eq!(executable.poll(), None);
        }
        assert_eq!(executable.poll(), Some(ExecutableChange::Removed));
        let mut never_there = ExecutableWatch::watch(path);
        assert!((0..9).all(|_| never_there.poll().is_none()), "an unknown path says nothing");
    }
}
