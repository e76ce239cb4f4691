//! The worker lock: at most one worker per data directory. It is an `flock`, which the kernel
//! releases however the process ends.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use claude_mem_core::paths;

/// The held worker lock. Dropping it releases it.
#[derive(Debug)]
pub struct WorkerLock {
    file: File,
    path: PathBuf,
}

impl WorkerLock {
    /// Whether the locked file still exists at its path. If not, the data directory was removed or
    /// replaced by another, which another worker may own.
    pub fn is_in_place(&self) -> bool {
        let same = |held: Metadata, found: Metadata| (held.dev(), held.ino()) == (found.dev(), found.ino());
        match (self.file.metadata(), std::fs::metadata(&self.path)) {
            (Ok(held), Ok(found)) => same(held, found),
            (_, Err(error)) => error.kind() != io::ErrorKind::NotFound,
            (Err(_), _) => true,
        }
    }
}

/// Takes the lock without waiting. `Ok(None)` if another process holds it.
pub fn acquire(path: &Path) -> io::Result<Option<WorkerLock>> {
    let file = paths::append_file(path)?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(WorkerLock { file, path: path.to_owned() })),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::acquire;

    #[test]
    fn lock_is_exclusive_until_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("worker.lock");
        let first = acquire(&path).unwrap();
        assert!(first.is_some());
        assert!(acquire(&path).unwrap().is_none());
        drop(first);
        assert!(acquire(&path).unwrap().is_some());
    }

    #[test]
    fn holder_notices_a_removed_directory() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data").join("worker.lock");
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        let held = acquire(&path).unwrap().unwrap();
        assert!(held.is_in_place());
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
        assert!(!held.is_in_place());
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        let next = acquire(&path).unwrap().unwrap();
        assert!(next.is_in_place() && !held.is_in_place());
    }
}
