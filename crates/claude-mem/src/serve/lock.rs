//! Exactly one worker per data directory, by a lock that the kernel takes back when it dies.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::paths;

/// Held for as long as it lives, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Takes the lock. `Ok(None)`: another process has it.
pub fn acquire(path: &Path) -> io::Result<Option<Lock>> {
    let file = paths::append_file(path)?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Lock { _file: file })),
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
}
