//! [`ListedProcess`]: what every system says about a process.

/// A process as the system lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedProcess {
    /// It has exited and is not reaped yet.
    pub has_exited: bool,
    /// A number that differs between two processes with the same pid: on Linux the start time in clock
    /// ticks since boot.
    pub start_ticks: u64,
}
