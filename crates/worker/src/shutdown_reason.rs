//! [`ShutdownReason`]: why a worker ended.

/// Why a worker shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutdownReason {
    /// By a request or a signal.
    Requested,
    /// The queue is empty, with `until_drained`.
    Drained,
    /// It was idle for the configured time.
    Idle,
    /// Its executable was replaced by another version.
    ExecutableReplaced,
    /// Its executable was removed: the next hook starts the new version, if there is one.
    ExecutableRemoved,
    /// Its data directory was removed.
    DataDirRemoved,
}

impl ShutdownReason {
    /// The reason as logged.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "asked",
            Self::Drained => "drained",
            Self::Idle => "idle",
            Self::ExecutableReplaced => "replaced",
            Self::ExecutableRemoved => "executable removed",
            Self::DataDirRemoved => "data directory removed",
        }
    }
}
