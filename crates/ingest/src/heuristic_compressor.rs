//! The heuristic compressor: calls `distil`, which needs no model and no network and cannot fail.

use crate::compressor::{CompressionOutcome, Compressor};
use crate::job::{CompressedEpisode, EpisodeJob};
use claude_mem_core::memory::CompressionOutput;
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_distil::Carry;

pub use crate::session_memory::LOCAL;

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
    let (claims, summary) = claude_mem_distil::extract_claims(&work.episode, &mut carry, vocabulary);
    CompressedEpisode {
        distilled: CompressionOutput { summary, ..CompressionOutput::default() },
        claims: Some(claims),
        made_by: LOCAL.to_owned(),
        carry: serde_json::to_string(&carry).ok(),
        rolling_summary: None,
    }
}
