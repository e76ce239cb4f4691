//! The file that this process was started from, and whether a newer one lies there now.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What tells one build of the file from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

/// Watches one file.
#[derive(Debug)]
pub struct Executable {
    path: PathBuf,
    at_start: Option<Stamp>,
    last_seen: Option<Stamp>,
}

impl Executable {
    pub fn watch(path: PathBuf) -> Self {
        let stamp = stamp(&path);
        Self {
            path,
            at_start: stamp,
            last_seen: stamp,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True once another file lies there and has kept still since the last look: one that is
    /// being written is not started. A file that is gone is none.
    pub fn is_newer(&mut self) -> bool {
        let now = stamp(&self.path);
        let still = now == self.last_seen;
        self.last_seen = now;
        still && now.is_some() && self.at_start.is_some() && now != self.at_start
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = std::fs::metadata(path).ok()?;
    Some(Stamp {
        inode: meta.ino(),
        bytes: meta.len(),
        modified: (meta.mtime(), meta.mtime_nsec()),
    })
}

#[cfg(test)]
mod tests {
    use super::Executable;

    #[test]
    fn a_replaced_file_counts_once_it_keeps_still() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("claude-mem");
        std::fs::write(&path, "old").unwrap();
        let mut executable = Executable::watch(path.clone());
        assert!(!executable.is_newer());
        std::fs::remove_file(&path).unwrap();
        assert!(!executable.is_newer());
        assert!(!executable.is_newer());
        std::fs::write(&path, "half").unwrap();
        assert!(!executable.is_newer());
        std::fs::write(&path, "the whole new one").unwrap();
        assert!(!executable.is_newer());
        assert!(executable.is_newer());
    }
}
