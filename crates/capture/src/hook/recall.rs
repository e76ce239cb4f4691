//! Recalls memories for a prompt or a failed command: by the worker, else in this process.

use super::recall_request::{HookRecallRequest, RecallTrigger};
use super::resources::HookResources;
use claude_mem_core::clock;
use claude_mem_recall::recall_request::{RecallOccasion, RecallRequest};
use claude_mem_store::StoreError;

/// The memories that a prompt calls for; empty if there are none.
pub(super) fn recall_for_prompt(
    request: &HookRecallRequest<'_>,
    resources: &mut HookResources<'_>,
) -> Result<String, StoreError> {
    let RecallTrigger::Prompt(text) = &request.trigger else {
        return Ok(String::new());
    };
    let settings = request.settings.effective();
    if !settings.recall_prompt {
        return Ok(String::new());
    }
    recall_by_worker_or_locally(
        request,
        resources,
        RecallOccasion::Prompt,
        text,
        settings.recall_prompt_tokens,
    )
}

/// Memories of the same error; empty if there are none.
pub(super) fn recall_for_failure(
    request: &HookRecallRequest<'_>,
    resources: &mut HookResources<'_>,
) -> Result<String, StoreError> {
    let RecallTrigger::Failure(output) = &request.trigger else {
        return Ok(String::new());
    };
    let settings = request.settings.effective();
    if !settings.recall_failure {
        return Ok(String::new());
    }
    recall_by_worker_or_locally(
        request,
        resources,
        RecallOccasion::Failure,
        output,
        settings.recall_failure_tokens,
    )
}

/// Asks the worker, which also searches by vectors; without a worker, or without a reply in time,
/// searches lexically in this process.
fn recall_by_worker_or_locally(
    request: &HookRecallRequest<'_>,
    resources: &mut HookResources<'_>,
    occasion: RecallOccasion,
    said: &str,
    budget_tokens: u32,
) -> Result<String, StoreError> {
    let (Some(hint), Some(text)) = (request.project, RecallRequest::text_of(occasion, said)) else {
        return Ok(String::new());
    };
    let recall_request = RecallRequest {
        recipient: request.recipient(),
        project: hint.keys.clone(),
        occasion,
        text,
        budget_tokens,
    };
    match resources.worker.request_recall(&recall_request) {
        Ok(Some(reply)) => return Ok(reply.text),
        Ok(None) => {}
        Err(e) => resources.log(&format!("recall request to the worker failed: {}", e.kind())),
    }
    let Some(inbox) = resources.database.existing()? else {
        return Ok(String::new());
    };
    let recalled = inbox
        .read_within(request.read_limit(), |reads| recall_request.recall(reads, None, &clock::zone()))?;
    request.record_shown(resources, occasion.place(), &recalled.items);
    Ok(recalled.text)
}
