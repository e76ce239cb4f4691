//! Which process a pid means. Pids are used again; a pid with its start time is not.

use serde::{Deserialize, Serialize};

/// One process, for as long as this machine is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    pub pid: u32,
    /// Clock ticks from boot to its start, as the kernel counts them.
    pub start_ticks: u64,
}

impl Identity {
    /// The living process that has this pid now.
    pub fn of(pid: u32) -> Option<Self> {
        let (state, start_ticks) = stat_of(pid)?;
        // A zombie has ended; it is only not buried.
        (!matches!(state, 'Z' | 'X')).then_some(Self { pid, start_ticks })
    }

    /// The process that has this pid, even if it has ended and is not buried yet.
    pub(super) fn of_child(pid: u32) -> Option<Self> {
        let (_, start_ticks) = stat_of(pid)?;
        Some(Self { pid, start_ticks })
    }

    /// This process.
    pub fn own() -> Option<Self> {
        Self::of(std::process::id())
    }

    pub fn is_alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }
}

fn stat_of(pid: u32) -> Option<(char, u64)> {
    parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// State and start time. The name stands in parentheses and may hold anything, so counting begins
/// after the last one.
fn parse(stat: &str) -> Option<(char, u64)> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let start_ticks = fields.nth(18)?.parse().ok()?;
    Some((state, start_ticks))
}

/// Names this run of the machine: start times of another one mean nothing.
pub(super) fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

#[cfg(test)]
#[path = "identity_tests.rs"]
mod tests;
