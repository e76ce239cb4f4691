//! Process identity: pids are reused, but a pid with its start time is unique.

use serde::{Deserialize, Serialize};

use crate::platform;

/// One process, unique until the next boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessIdentity {
    pub pid: u32,
    /// The system's number for its start, see [`platform::ListedProcess`].
    pub start_ticks: u64,
}

impl ProcessIdentity {
    /// The running process with this pid.
    pub fn from_pid(pid: u32) -> Option<Self> {
        let listed = platform::listed_process(pid)?;
        (!listed.has_exited).then_some(Self { pid, start_ticks: listed.start_ticks })
    }

    /// The process with this pid, even if it has exited and is not reaped yet.
    pub(super) fn from_unreaped_pid(pid: u32) -> Option<Self> {
        let listed = platform::listed_process(pid)?;
        Some(Self { pid, start_ticks: listed.start_ticks })
    }

    /// This process.
    pub fn current() -> Option<Self> {
        Self::from_pid(std::process::id())
    }

    /// Whether this very process still runs.
    pub fn is_alive(self) -> bool {
        Self::from_pid(self.pid) == Some(self)
    }
}

#[cfg(test)]
#[path = "identity_tests.rs"]
mod tests;
