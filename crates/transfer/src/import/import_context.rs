//! [`ImportContext`], [`ImportProgress`] and [`ImportError`]: input, progress and failure of every import.

use std::path::Path;

use claude_mem_capture::settings::HookSettings;
use claude_mem_store::StoreError;

/// Why an import failed.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The source is readable, but not what this import expects.
    #[error("{0} is {1}")]
    UnexpectedSource(String, &'static str),
    #[error("{0}: {1}")]
    Unreadable(String, std::io::Error),
    #[error("{0}: {1}")]
    NotJson(String, serde_json::Error),
    #[error("another import is running")]
    Busy,
}

/// Settings and directories that every import needs.
#[derive(Clone, Copy, Debug)]
pub struct ImportContext<'a> {
    pub settings: &'a HookSettings,
    /// The user's home directory, for patterns that begin with `~`.
    pub home: &'a str,
    /// The client's own data directory.
    pub client_dir: &'a Path,
    /// Whether rows of the source may count as the user's own words.
    pub trust: SourceTrust,
}

/// Whether rows of an imported file may count as the user's own words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceTrust {
    /// Anyone may have written it: its rows are marked as imported, and it brings no preferences, no pins
    /// and no deletions.
    #[default]
    Foreign,
    /// The user says that it is their own, unchanged export.
    Own,
}

/// Receives the progress of an import.
pub trait ImportProgress {
    /// Sets the total amount; the unit depends on the import.
    fn total(&mut self, amount: u64);
    fn advance(&mut self, amount: u64);
}

/// Discards progress.
#[derive(Clone, Copy, Debug)]
pub struct NoProgress;

impl ImportProgress for NoProgress {
    fn total(&mut self, _amount: u64) {}
    fn advance(&mut self, _amount: u64) {}
}
