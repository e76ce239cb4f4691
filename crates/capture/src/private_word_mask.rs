//! Masks what private blocks contained in the events of a session.

use crate::session_words::SessionWords;
use claude_mem_core::event::{Event, EventBody};

/// Masks the words of private blocks in what the agent did and said, and in the names around it. The user's own
/// prompts stay: who writes a word outside of a private block has chosen to.
pub(crate) fn mask_private_words(event: &mut Event, words: &SessionWords) {
    if words.is_empty() {
        return;
    }
    if let Some(project) = &mut event.project {
        words.mask_text(&mut project.name);
        words.mask_text(&mut project.root);
        project.keys.iter_mut().chain(&mut project.branch).for_each(|text| words.mask_text(text));
    }
    event.agent_type.iter_mut().for_each(|text| words.mask_text(text));
    match &mut event.body {
        EventBody::ToolUse { tool, input, output, .. } => {
            words.mask_text(tool);
            words.mask_json(input);
            words.mask_json(output);
        }
        EventBody::Stop { last_message } | EventBody::SubagentStop { last_message } => {
            if let Some(text) = last_message {
                words.mask_text(text);
            }
        }
        EventBody::PostCompact { summary } => words.mask_text(summary),
        EventBody::Text { source, text, .. } if !source.is_user() => words.mask_text(text),
        _ => {}
    }
}
