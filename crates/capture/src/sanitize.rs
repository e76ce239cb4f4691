//! Sanitizes the short fields of a payload: ids, names, paths and a few known words.
//!
//! Invariant: these fields are stored verbatim, so nothing passes that a person could have written:
//! no spaces, no tags, no secrets.

use std::borrow::Cow;

/// Maximum length of an id or a name, in bytes.
const ID_BYTES_MAX: usize = 200;

/// Replaces a word that is not known.
pub const OTHER: &str = "other";
/// How a session can start.
pub const SESSION_START_SOURCES: [&str; 5] = ["startup", "resume", "clear", "compact", "fork"];
/// Why a session can end.
pub const SESSION_END_REASONS: [&str; 7] =
    ["clear", "logout", "prompt_input_exit", "resume", "compact", "bypass_permissions_disabled", OTHER];
/// The triggers of a compaction.
pub const COMPACT_TRIGGERS: [&str; 2] = ["manual", "auto"];

/// Returns the id if it is valid and holds no secret.
pub fn sanitize_id(text: String) -> Option<String> {
    let of_ids = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '-' | '@' | '/');
    let is_one = text.len() <= ID_BYTES_MAX && text.chars().all(of_ids) && claude_mem_redact::is_clean(&text);
    is_one.then_some(text)
}

/// Returns the session id, or its digest if the id itself must not be stored: the digest still
/// distinguishes sessions.
pub fn sanitize_session_id(text: String) -> String {
    // The store does the same, so privacy marks and rows agree on the session.
    claude_mem_redact::ShortText::id(&text).into_text().into_owned()
}

/// Returns the word if it is known, else [`OTHER`].
pub fn known_word(text: &str, known: &[&str]) -> String {
    let known = known.iter().find(|known| **known == text);
    known.map_or(OTHER, |known| known).to_owned()
}

/// Returns the path unless it holds a secret: a redacted path could not be opened.
pub fn sanitize_path(text: &str) -> Option<String> {
    match claude_mem_redact::path(text) {
        Cow::Borrowed(path) => Some(path.to_owned()),
        Cow::Owned(_) => None,
    }
}
