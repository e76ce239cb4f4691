//! The contract of everything that makes memories from an episode.

use serde::{Deserialize, Serialize};

use crate::job::{CompressedEpisode, EpisodeJob};
use claude_mem_core::clock::Millis;
use claude_mem_core::config::Provider;

/// Turns an episode into memories.
pub trait Compressor: Send + Sync + std::fmt::Debug {
    /// Compresses one episode. Blocks, for a bounded time.
    fn compress(&self, work: &EpisodeJob) -> CompressionOutcome;

    /// Called when a thread is idle: releases what is only kept for the next call.
    fn release_idle(&self, _now: Millis) {}

    /// Begins the shutdown: waits between model calls end early. A call in flight is not aborted.
    fn stop(&self) {}

    /// A setting that has no effect, for `status`. Trouble with the model is recorded in the store.
    fn status_warning(&self, _now: Millis) -> Option<String> {
        None
    }

    /// What it uses, for `status`.
    fn report(&self) -> CompressorReport {
        CompressorReport::local()
    }
}

/// What a compressor really uses. Contains no key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompressorReport {
    /// The provider of the settings.
    pub configured: String,
    /// The provider in use: the configured one, or `local`.
    pub provider: String,
    /// Empty if no model is used.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The base URL; empty if no model is called over HTTP.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub address: String,
    /// The program that is run instead of a request.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// The vocabulary file; empty for the built-in one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub vocabulary: String,
    #[serde(default)]
    pub budget_tokens_per_day: u64,
    #[serde(default)]
    pub budget_tokens_per_session: u64,
}

impl CompressorReport {
    /// No model.
    pub fn local() -> Self {
        let name = Provider::Local.as_str().to_owned();
        Self { configured: name.clone(), provider: name, ..Self::default() }
    }
}

/// What a [`Compressor`] returns for one episode.
#[derive(Debug)]
pub enum CompressionOutcome {
    Compressed(Box<CompressedEpisode>),
    /// Compression failed: the events count a failed attempt and are retried after a backoff.
    Failed(String),
    /// Interrupted by the shutdown or by changed settings: the lease is released and no attempt is
    /// counted.
    Released,
}

impl CompressionOutcome {
    /// The outcome of an episode that is stored without memories.
    pub(crate) fn empty() -> Self {
        Self::Compressed(Box::default())
    }
}
