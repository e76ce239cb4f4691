//! Handles the `recall` request of a hook: finds the memories to show and, once the hook has
//! acknowledged them, records them as shown.

use crate::worker::WorkerContext;
use claude_mem_core::clock;
use claude_mem_recall::recall::RecalledText;
use claude_mem_recall::recall_request::RecallRequest;
use claude_mem_store::StoreError;

/// Finds relevant memories by lexical and vector search.
pub(super) fn recall(worker: &WorkerContext, request: &RecallRequest) -> Result<RecalledText, StoreError> {
    worker.engines.with_engine(|engine| {
        engine.view(|reads, mut retriever| request.recall(&reads, retriever.as_mut(), &clock::zone()))
    })
}

/// Records the recalled memories as shown, after the hook's acknowledgement.
pub(super) fn acknowledge(
    worker: &WorkerContext,
    request: &RecallRequest,
    recalled: &RecalledText,
) -> Result<(), StoreError> {
    let entries =
        request.recipient.shown_entries(request.occasion.place(), &recalled.items, clock::now().millis());
    worker
        .store
        .with(|store| store.write(|tx| entries.iter().try_for_each(|entry| tx.record_feedback(entry))))
}
