//! Starting the worker from a hook, without waiting for it.

use std::io;
use std::time::Duration;

use rustix::fs::{Timespec, Timestamps, UTIME_NOW};

use crate::limits::START_AGAIN_SECONDS;
use crate::paths::{self, DataDir};
use crate::serve::spawn;

/// Starts a worker, unless another hook did so a moment ago. False if none was started.
pub(super) fn worker(dir: &DataDir) -> io::Result<bool> {
    if !is_our_turn(dir)? {
        return Ok(false);
    }
    spawn::launch(&std::env::current_exe()?, dir)?;
    Ok(true)
}

/// The time of an empty file says when a worker was last started. Two hooks that look at the
/// same moment may both start one: only one of those gets the lock.
fn is_our_turn(dir: &DataDir) -> io::Result<bool> {
    let stamp = dir.worker_started();
    let last = std::fs::metadata(&stamp).and_then(|meta| meta.modified());
    let again = Duration::from_secs(START_AGAIN_SECONDS);
    if last.is_ok_and(|last| last.elapsed().is_ok_and(|ago| ago < again)) {
        return Ok(false);
    }
    let file = paths::append_file(&stamp)?;
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    let now = Timestamps {
        last_access: now,
        last_modification: now,
    };
    rustix::fs::futimens(&file, &now)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::is_our_turn;
    use crate::paths::DataDir;

    #[test]
    fn of_many_hooks_one_starts_it_and_after_a_while_another_may() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = DataDir::new(temporary.path());
        assert!(is_our_turn(&dir).unwrap());
        assert!(!is_our_turn(&dir).unwrap());
        let stamp = std::fs::File::options()
            .append(true)
            .open(dir.worker_started());
        stamp.unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        assert!(is_our_turn(&dir).unwrap());
        assert!(!is_our_turn(&dir).unwrap());
    }
}
