//! What a prompt brings to mind.

use super::evidence::EvidenceThreshold;
use super::prompt_question::PromptQuestion;
use super::recalled_memory::{RecallQuery, RecalledText};
use super::{near, tell, turn};
use claude_mem_search::VectorRetriever;
use claude_mem_store::{StoreError, StoreReader};

/// What this prompt brings to mind.
pub fn prompt(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    leg: Option<&mut VectorRetriever<'_>>,
) -> Result<RecalledText, StoreError> {
    let Some(asking) = PromptQuestion::read(ask.prompt) else {
        return Ok(RecalledText::default());
    };
    let looked = near::near(reads, ask, &asking, leg)?;
    if looked.said.is_empty() || ask.bar != EvidenceThreshold::Prompt {
        return Ok(tell::found(ask, looked.memories));
    }
    turn::told(reads, ask, looked.said)
}
