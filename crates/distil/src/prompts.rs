//! What the user typed, without what the client wrapped around it.

/// Blocks that clients put into prompts and no user typed.
const WRAPPED: &[&str] = &[
    "system-reminder",
    "command-message",
    "command-stdout",
    "local-command-stdout",
    "local-command-caveat",
    "hook_context",
    "ide_opened_file",
    "ide_selection",
    "session-start-hook",
    "user-prompt-submit-hook",
    "claude-mem-context",
    "untrusted_context",
    "task-notification",
    "bash-stdout",
    "bash-stderr",
];
/// Tags around words that the user did type.
const UNWRAPPED: &[&str] = &["command-name", "command-args", "user_query", "bash-input"];

/// The user's own words.
pub(super) fn spoken(text: &str) -> String {
    let mut words = text.to_owned();
    for tag in WRAPPED {
        words = without_block(&words, tag);
    }
    for tag in UNWRAPPED {
        words = words.replace(&format!("<{tag}>"), " ").replace(&format!("</{tag}>"), " ");
    }
    for note in ["[Request interrupted by user]", "[Request interrupted by user for tool use]"] {
        words = words.replace(note, "");
    }
    words.trim().to_owned()
}

/// The text without `<tag …>…</tag>`; an unclosed one goes to the end.
fn without_block(text: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
    if !text.contains(&open) {
        return text.to_owned();
    }
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(&open) {
        kept.push_str(&rest[..start]);
        rest = match rest[start..].find(&close) {
            Some(end) => &rest[start + end + close.len()..],
            None => "",
        };
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
#[path = "prompts_tests.rs"]
mod tests;
