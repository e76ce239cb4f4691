//! Exactly one worker per data directory, by a lock that the kernel takes back when it dies.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::paths;

/// Held for as long as it lives, however it ends.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Whether its file still stands where it was taken. If not, the data directory is gone or is
    /// another one, which somebody else may hold.
    pub fn is_in_place(&self) -> bool {
        let same = |held: Metadata, found: Metadata| {
            (held.dev(), held.ino()) == (found.dev(), found.ino())
        };
        match (self.file.metadata(), std::fs::metadata(&self.path)) {
            (Ok(held), Ok(found)) => same(held, found),
            (_, Err(error)) => error.kind() != io::ErrorKind::NotFound,
            (Err(_), _) => true,
        }
    }
}

/// Takes the lock. `Ok(None)`: another process has it.
pub fn acquire(path: &Path) -> io::Result<Option<Lock>> {
    let file = paths::append_file(path)?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Lock {
            file,
            path: path.to_owned(),
        })),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::acquire;

    #[test]
    fn one_holds_it_and_the_next_gets_it_when_that_one_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("worker.lock");
        let first = acquire(&path).unwrap();
        assert!(first.is_some());
        assert!(acquire(&path).unwrap().is_none());
        drop(first);
        assert!(acquire(&path).unwrap().is_some());
    }

    #[test]
    fn whoever_holds_it_notices_that_the_directory_is_gone() {
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
