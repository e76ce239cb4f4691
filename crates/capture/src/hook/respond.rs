//! Responds to a hook: with context at session start, with recalled memories otherwise.
//!
//! Invariant: a failure here costs the agent a memory, never its turn.

use super::answer::HookResponse;
use super::file_recall;
use super::recall;
use super::recall_request::{HookRecallRequest, RecallOutput};
use super::resources::HookResources;
use super::session_start;
use claude_mem_core::agents::{FileRecallMoment, HookEventKind};

/// The response to one hook call.
pub(super) fn respond(request: &HookRecallRequest<'_>, resources: &mut HookResources<'_>) -> HookResponse {
    let for_agent = |text| RecallOutput { text, message: String::new() };
    let output = match request.kind {
        HookEventKind::SessionStart => session_start::session_context(request, resources),
        HookEventKind::Prompt => recall::recall_for_prompt(request, resources).map(for_agent),
        HookEventKind::BeforeTool => file_recall::recall_for_file(request, resources).map(for_agent),
        HookEventKind::ToolUse if request.agent.file_recall == FileRecallMoment::AfterTool => {
            file_recall::recall_for_file(request, resources).map(for_agent)
        }
        HookEventKind::ToolFailure => recall::recall_for_failure(request, resources).map(for_agent),
        HookEventKind::SessionEnd => {
            session_start::note_session_end(request, resources);
            return HookResponse::Neutral;
        }
        _ => return HookResponse::Neutral,
    };
    let event = request.agent.event_name(request.kind);
    match output {
        Ok(RecallOutput { text, message }) if text.is_empty() && message.is_empty() => HookResponse::Neutral,
        Ok(RecallOutput { text, message }) if message.is_empty() => HookResponse::Context { event, text },
        Ok(RecallOutput { text, message }) => HookResponse::Message { event, text, message },
        Err(e) => {
            resources.log(&format!("recall failed: {e}"));
            HookResponse::Neutral
        }
    }
}
