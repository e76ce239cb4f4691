//! Process identity: pids are reused, but a pid with its start time is unique.

use serde::{Deserialize, Serialize};

/// One process, unique until the next boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessIdentity {
    pub pid: u32,
    /// Start time in clock ticks since boot, from the kernel.
    pub start_ticks: u64,
}

impl ProcessIdentity {
    /// The running process with this pid.
    pub fn from_pid(pid: u32) -> Option<Self> {
        let (state, start_ticks) = read_stat(pid)?;
        // A zombie has exited and is only not reaped yet.
        (!matches!(state, 'Z' | 'X')).then_some(Self { pid, start_ticks })
    }

    /// The process with this pid, even if it has exited and is not reaped yet.
    pub(super) fn from_unreaped_pid(pid: u32) -> Option<Self> {
        let (_, start_ticks) = read_stat(pid)?;
        Some(Self { pid, start_ticks })
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

fn read_stat(pid: u32) -> Option<(char, u64)> {
    // A process name may be any bytes.
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&String::from_utf8_lossy(&stat))
}

/// Parses state and start time. The name is in parentheses and may contain anything, so fields are
/// counted from the last one.
fn parse_stat(stat: &str) -> Option<(char, u64)> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let start_ticks = fields.nth(18)?.parse().ok()?;
    Some((state, start_ticks))
}

/// The boot id: start times of another boot mean nothing.
pub(super) fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

#[cfg(test)]
#[path = "identity_tests.rs"]
mod tests;
