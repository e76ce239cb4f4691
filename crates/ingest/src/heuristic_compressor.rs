//! The heuristic compressor: calls `distil`, which needs no model and no network and cannot fail.

use crate::compressor::{CompressionOutcome, Compressor};
use crate::job::{CompressedEpisode, EpisodeJob};
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_distil::Carry;

/// The `made_by` value of rows from the heuristic compressor.
pub const LOCAL: &str = "local";

/// A [`Compressor`] that uses no model.
#[derive(Debug, Default)]
pub struct HeuristicCompressor {
    pub vocabulary: Vocabulary,
}

impl Compressor for HeuristicCompressor {
    fn compress(&self, work: &EpisodeJob) -> CompressionOutcome {
        CompressionOutcome::Compressed(Box::new(compress_locally(work, &self.vocabulary)))
    }
}

/// Compresses an episode without a model. A carried state that does not parse, because another
/// version wrote it, is treated as empty.
pub fn compress_locally(work: &EpisodeJob, vocabulary: &Vocabulary) -> CompressedEpisode {
    let stored = work.carry.as_deref();
    let mut carry: Carry = stored.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let distilled = claude_mem_distil::distil(&work.episode, &mut carry, vocabulary);
    CompressedEpisode {
        distilled,
        made_by: LOCAL.to_owned(),
        carry: serde_json::to_string(&carry).ok(),
        rolling_summary: None,
    }
}
