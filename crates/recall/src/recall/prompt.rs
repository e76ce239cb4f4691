//! What a prompt brings to mind.

use super::asking::Asking;
use super::brought::{Ask, Recalled};
use super::evidence::Bar;
use super::{near, tell, turn};
use claude_mem_search::VectorRetriever;
use claude_mem_store::{StoreError, StoreReader};

/// What this prompt brings to mind.
pub fn prompt(
    reads: &StoreReader<'_>,
    ask: &Ask<'_>,
    leg: Option<&mut VectorRetriever<'_>>,
) -> Result<Recalled, StoreError> {
    let Some(asking) = Asking::read(ask.prompt) else {
        return Ok(Recalled::default());
    };
    let looked = near::near(reads, ask, &asking, leg)?;
    if looked.said.is_empty() || ask.bar != Bar::Prompt {
        return Ok(tell::found(ask, looked.memories));
    }
    turn::told(reads, ask, looked.said)
}
