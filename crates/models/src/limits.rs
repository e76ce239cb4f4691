//! Bounds that several files of this crate share.

/// Failed model calls about one episode after which the heuristic compressor takes over.
pub(crate) const MODEL_ATTEMPTS_MAX: u32 = 3;

/// Longest retry delay, in seconds, that we accept from a provider: after a day we try again.
pub(crate) const MODEL_WAIT_SECONDS_MAX: u64 = 24 * 60 * 60;
