//! Bounds that several files of this crate share.

/// Seconds between two rounds of the worker's maintenance.
pub(crate) const UPKEEP_SECONDS: u64 = 60;

/// Seconds that a link of `claude-mem open` is valid.
pub(crate) const HTTP_LINK_SECONDS: u64 = 10 * 60;

/// Maximum page tokens that are valid at a time. The oldest is dropped.
pub(crate) const HTTP_PAGES_MAX: usize = 64;
