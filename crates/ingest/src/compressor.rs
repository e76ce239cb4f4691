//! The contract of everything that makes memories from an episode.

use crate::job::{CompressedEpisode, EpisodeJob};
use claude_mem_core::clock::Millis;

/// Turns an episode into memories.
pub trait Compressor: Send + Sync + std::fmt::Debug {
    /// Compresses one episode. Blocks, for a bounded time.
    fn compress(&self, work: &EpisodeJob) -> CompressionOutcome;

    /// Called when a thread is idle: releases what is only kept for the next call.
    fn release_idle(&self, _now: Millis) {}

    /// Begins the shutdown: waits between model calls end early. A call in flight is not aborted.
    fn stop(&self) {}

    /// Why compression does not work as configured, for `status`.
    fn status_warning(&self, _now: Millis) -> Option<String> {
        None
    }
}

/// What a [`Compressor`] returns for one episode.
#[derive(Debug)]
pub enum CompressionOutcome {
    Compressed(Box<CompressedEpisode>),
    /// Compression failed: the events count a failed attempt and are retried after a backoff.
    Failed(String),
    /// Interrupted by the shutdown: the lease is released and no attempt is counted.
    Released,
}

impl CompressionOutcome {
    /// The outcome of an episode that is stored without memories.
    pub(crate) fn empty() -> Self {
        Self::Compressed(Box::default())
    }
}
