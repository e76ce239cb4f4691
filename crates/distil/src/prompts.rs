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

/// What follows the name of a slash command: the user's words to it.
pub(super) fn without_command(text: &str) -> &str {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ':' | '_' | '-'))
    };
    match text.trim_start().strip_prefix('/').and_then(|rest| rest.split_once(char::is_whitespace)) {
        Some((name, words)) if is_name(name) => words.trim_start(),
        _ => text,
    }
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

/// First words of a prompt that refuses what was done.
#[rustfmt::skip]
const REFUSALS: &[&str] = &[
    "no ", "no,", "no.", "nope", "nah", "that's wrong", "thats wrong", "that's not", "thats not", "not what", "wrong,", "revert",
    "undo", "nein", "non,", "нет,", "いいえ", "不对", "不是",
];
/// Phrases near the beginning of a prompt that report that something does not work.
#[rustfmt::skip]
const STILL_BROKEN: &[&str] = &[
    "still see", "still get", "still not", "still fail", "still the same", "still have", "still broken", "still show",
    "doesn't work", "does not work", "doesnt work", "didn't work", "did not work", "not working", "same error", "same problem",
    "same issue", "geht nicht", "immer noch", "no funciona", "sigue sin", "ne marche pas", "toujours pas", "не работает",
    "всё ещё", "動かない", "还是不",
];
/// Characters of a prompt in which an objection stands.
const OBJECTION_CHARS: usize = 120;

/// Whether a prompt says that what was done before is wrong or does not work.
pub(crate) fn objects(prompt: &str) -> bool {
    let lower: String = prompt.to_lowercase().replace('’', "'").chars().take(OBJECTION_CHARS).collect();
    let said = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let said = said.strip_prefix("hm").map_or(said, |rest| rest.trim_start_matches(['m', ',', '.', ' ']));
    REFUSALS.iter().any(|start| said.starts_with(start))
        || STILL_BROKEN.iter().any(|phrase| lower.contains(phrase))
}

#[cfg(test)]
#[path = "prompts_tests.rs"]
mod tests;
