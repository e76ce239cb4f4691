//! Detects that the worker's executable file was replaced by another version.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Metadata that changes when the file is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ExecutableStamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

/// Polls one file for replacement.
#[derive(Debug)]
pub(crate) struct ExecutableWatch {
    path: PathBuf,
    at_start: Option<ExecutableStamp>,
    last_seen: Option<ExecutableStamp>,
}

impl ExecutableWatch {
    /// Remembers the file as it is now.
    pub(crate) fn watch(path: PathBuf) -> Self {
        let stamp = read_stamp(&path);
        Self { path, at_start: stamp, last_seen: stamp }
    }

    /// True once the file differs from the one at the start and has not changed since the previous
    /// call: a file that is still being written does not count, nor does a missing one.
    pub(crate) fn is_replaced(&mut self) -> bool {
        let now = read_stamp(&self.path);
        let still = now == self.last_seen;
        self.last_seen = now;
        still && now.is_some() && self.at_start.is_some() && now != self.at_start
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
    use super::ExecutableWatch;

    #[test]
    fn replaced_file_counts_once_it_is_stable() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("claude-mem");
        std::fs::write(&path, "old").unwrap();
        let mut executable = ExecutableWatch::watch(path.clone());
        assert!(!executable.is_replaced());
        std::fs::remove_file(&path).unwrap();
        assert!(!executable.is_replaced());
        assert!(!executable.is_replaced());
        std::fs::write(&path, "half").unwrap();
        assert!(!executable.is_replaced());
        std::fs::write(&path, "the whole new one").unwrap();
        assert!(!executable.is_replaced());
        assert!(executable.is_replaced());
    }
}
