//! Recall for a prompt or a failure: retrieves the memories, and renders them or an earlier turn.

use super::evidence::EvidenceThreshold;
use super::prompt_question::PromptQuestion;
use super::recalled_memory::{RecallQuery, RecalledText};
use super::{earlier_turn, render_memories, retrieve};
use claude_mem_search::VectorRetriever;
use claude_mem_store::{StoreError, StoreReader};

/// The memories about this prompt; an earlier turn if no memory is near.
pub fn recall_for_prompt(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    retriever: Option<&mut VectorRetriever<'_>>,
) -> Result<RecalledText, StoreError> {
    let Some(asking) = PromptQuestion::read(ask.prompt) else {
        return Ok(RecalledText::default());
    };
    let looked = retrieve::retrieve_memories(reads, ask, &asking, retriever)?;
    if looked.earlier_prompts.is_empty() || ask.threshold != EvidenceThreshold::Prompt {
        return Ok(render_memories::render_memories(ask, looked));
    }
    earlier_turn::recall_earlier_turn(reads, ask, looked.earlier_prompts)
}
