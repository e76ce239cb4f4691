//! Drops what the agent, a teammate or the client says about an ignored path.

use claude_mem_core::event::EventBody;

/// Removes a text that names an ignored path from the event. False if nothing is left to capture. The end of a
/// turn is captured without its message. The user's own words stay: who writes a path has chosen to.
pub(crate) fn drop_ignored_text(body: &mut EventBody, is_ignored: impl Fn(&str) -> bool) -> bool {
    match body {
        EventBody::Stop { last_message } | EventBody::SubagentStop { last_message } => {
            if last_message.as_deref().is_some_and(is_ignored) {
                *last_message = None;
            }
            true
        }
        EventBody::PostCompact { summary } => !is_ignored(summary),
        EventBody::Text { source, text, .. } => source.is_user() || !is_ignored(text),
        _ => true,
    }
}
