//! Recalls the memories of a file that a tool is about to open.

use std::path::Path;

use super::recall_request::{HookRecallRequest, RecallTrigger};
use super::resources::HookResources;
use claude_mem_core::clock;
use claude_mem_core::event::ProjectHint;
use claude_mem_recall::file;
use claude_mem_recall::recall::RecalledText;
use claude_mem_store::{ExposureLevel, FeedbackRow, StoreError, StoreReader};

/// The place of these memories in the feedback ledger.
const PLACE: &str = "file";

/// Memories of a file, once per file and session; empty if there are none.
pub(super) fn recall_for_file(
    request: &HookRecallRequest<'_>,
    resources: &mut HookResources<'_>,
) -> Result<String, StoreError> {
    let (RecallTrigger::File(path), Some(hint)) = (&request.trigger, request.project) else {
        return Ok(String::new());
    };
    let tool = request.header.tool.as_deref().unwrap_or_default();
    let is_large = std::fs::metadata(path).is_ok_and(|meta| meta.len() >= file::FILE_BYTES_MIN);
    if !request.agent.file_tools.contains(&tool) || !is_large || !request.settings.effective().recall_file {
        return Ok(String::new());
    }
    let Some(inbox) = resources.database.existing()? else {
        return Ok(String::new());
    };
    let path = Path::new(path);
    let relative = path.strip_prefix(&hint.root).unwrap_or(path).to_string_lossy();
    let recalled = inbox
        .read_within(request.read_limit(), |reads| find_memories(request, reads, hint, &relative))?
        .unwrap_or_default();
    request.record_shown(resources, PLACE, &recalled.items);
    Ok(recalled.text)
}

/// `None` in an unknown project, and if the agent has been shown the file's memories before.
fn find_memories(
    request: &HookRecallRequest<'_>,
    reads: &StoreReader<'_>,
    hint: &ProjectHint,
    relative: &str,
) -> Result<Option<RecalledText>, StoreError> {
    let Some(project) = reads.project_by_keys(&hint.keys)? else {
        return Ok(None);
    };
    let recipient = request.recipient();
    let since = reads.last_compaction(&recipient.client, &recipient.session)?;
    let feedback = reads.feedback_for_session(&recipient.session)?;
    // Memories shown to one subagent were not shown to the others.
    let is_shown = |entry: &FeedbackRow| {
        entry.place == PLACE
            && entry.reason == relative
            && entry.agent_id == recipient.agent_id
            && entry.at >= since
    };
    if feedback.iter().any(is_shown) {
        return Ok(None);
    }
    let ask = file::FileRecallRequest {
        project,
        own: recipient.own_session(reads)?,
        path: relative,
        shown: &recipient.shown_rows(reads, ExposureLevel::FullTextOrTitle)?,
        budget_tokens: request.settings.effective().recall_file_tokens,
        zone: &clock::zone(),
    };
    file::recall_file(reads, &ask).map(Some)
}
