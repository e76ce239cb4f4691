//! Masks the words of private blocks in the events of a session.

use std::borrow::Cow;

use claude_mem_core::event::EventBody;
use claude_mem_redact::PrivateWords;

/// Masks the words of private blocks in what the agent did and said. The user's own prompts stay: who
/// writes a word outside of a private block has chosen to.
pub(crate) fn mask_private_words(body: &mut EventBody, words: &PrivateWords) {
    let mask = |text: &mut String| {
        if let Cow::Owned(masked) = words.mask(text) {
            *text = masked;
        }
    };
    match body {
        EventBody::ToolUse { input, output, .. } => {
            words.mask_json(input);
            words.mask_json(output);
        }
        EventBody::Stop { last_message } | EventBody::SubagentStop { last_message } => {
            last_message.iter_mut().for_each(mask);
        }
        EventBody::PostCompact { summary } => mask(summary),
        EventBody::Text { source, text, .. } if !source.is_user() => mask(text),
        _ => {}
    }
}
