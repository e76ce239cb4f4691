//! Helpers shared by the fault tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use claude_mem_core::child::{ChildRegistry, ChildSpawner, ProcessIdentity, SpawnRequest};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Timeout for things that happen immediately unless they are broken.
pub(crate) const LONG: Duration = Duration::from_mins(1);

/// A deterministic random number generator.
pub(crate) struct KillRng(pub(crate) u64);

impl KillRng {
    /// A number between 0 and 1.
    pub(crate) fn next(&mut self) -> f64 {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The executable under test.
pub(crate) fn executable() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_claude-mem"))
}

pub(crate) fn spawner(directory: &Path) -> ChildSpawner {
    let register = ChildRegistry::open(&directory.join("children")).unwrap();
    ChildSpawner::start(executable(), register).unwrap()
}

pub(crate) fn order(program: &str, args: &[&str]) -> SpawnRequest {
    SpawnRequest {
        program: program.into(),
        args: args.iter().map(OsString::from).collect(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        directory: "/".into(),
    }
}

/// Waits for the exit of a process that is not our child.
pub(crate) fn is_gone_in_time(process: ProcessIdentity) -> bool {
    let pid = Pid::from_raw(i32::try_from(process.pid).unwrap()).unwrap();
    let until = Instant::now() + LONG;
    while process.is_alive() {
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
            continue;
        };
        let left = Timespec::try_from(until.saturating_duration_since(Instant::now())).unwrap();
        if poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&left)).unwrap() == 0 {
            return false;
        }
    }
    true
}
