//! Callbacks by which the pipeline tells the worker what happened.

use crate::job::{EpisodeJob, StoredRows};

/// Callbacks of the [`EpisodePipeline`](crate::pipeline::EpisodePipeline).
pub trait PipelineObserver: Send + Sync + std::fmt::Debug {
    /// An episode was stored and its events were acknowledged: index and viewers may read it.
    fn episode_stored(&self, _work: &EpisodeJob, _left: &StoredRows) {}
    /// The transcript held events that no hook had delivered.
    fn events_backfilled(&self, _events: usize) {}
    /// Something failed; the pipeline goes on.
    fn warn(&self, _what: &'static str, _error: &dyn std::fmt::Display) {}
}
