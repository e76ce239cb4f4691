//! Starts the worker from a hook without waiting for it.

use std::io;
use std::time::Duration;

use rustix::fs::{Timespec, Timestamps, UTIME_NOW};

use crate::ipc::spawn;
use claude_mem_core::paths;
use claude_mem_core::paths::DataDir;

/// Seconds after a hook has started a worker during which no hook starts another one.
const START_AGAIN_SECONDS: u64 = 10;

/// Milliseconds after its start within which a worker binds its socket, also on a loaded machine. After that it has
/// failed, or has ended already, and no hook waits for it.
const START_MS_MAX: u64 = 1_000;

/// Whether a hook started a worker so recently that it may not listen yet.
pub(super) fn is_worker_starting(dir: &DataDir) -> bool {
    age_of_start(dir).is_some_and(|ago| ago < Duration::from_millis(START_MS_MAX))
}

/// Time since a hook last started a worker; `None` if none did, or the clock was set back.
fn age_of_start(dir: &DataDir) -> Option<Duration> {
    std::fs::metadata(dir.worker_started()).and_then(|meta| meta.modified()).ok()?.elapsed().ok()
}

/// Starts a worker, unless a hook did so within `START_AGAIN_SECONDS`. Returns false if none was
/// started.
pub(super) fn start_worker(dir: &DataDir) -> io::Result<bool> {
    if !claim_start(dir)? {
        return Ok(false);
    }
    spawn::start_detached(&std::env::current_exe()?, dir)?;
    Ok(true)
}

/// Checks and updates the modification time of an empty file, which records the last start. Two hooks
/// that check at the same moment may both start a worker: only one of these gets the worker lock.
fn claim_start(dir: &DataDir) -> io::Result<bool> {
    if age_of_start(dir).is_some_and(|ago| ago < Duration::from_secs(START_AGAIN_SECONDS)) {
        return Ok(false);
    }
    let file = paths::append_file(&dir.worker_started())?;
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let now = Timestamps { last_access: now, last_modification: now };
    rustix::fs::futimens(&file, &now)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::{claim_start, is_worker_starting};
    use claude_mem_core::paths::DataDir;

    #[test]
    fn start_is_claimed_once_until_the_interval_passes() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = DataDir::new(temporary.path());
        assert!(!is_worker_starting(&dir));
        assert!(claim_start(&dir).unwrap());
        assert!(is_worker_starting(&dir));
        assert!(!claim_start(&dir).unwrap());
        let stamp = std::fs::File::options().append(true).open(dir.worker_started());
        stamp.unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        assert!(!is_worker_starting(&dir));
        assert!(claim_start(&dir).unwrap());
        assert!(!claim_start(&dir).unwrap());
    }
}
