//! The short fields of a payload, as they may be stored: ids, names and a few known words.
//!
//! They are written as they come, so nothing comes through here that a person could have
//! written: no blanks, no tags, no secrets.

use std::borrow::Cow;

use super::key;
use crate::redact;

/// An id or a name is not longer than this.
const ID_CHARS_MAX: usize = 200;

/// What takes the place of a word that is not known.
pub const OTHER: &str = "other";
/// How a session may begin,
pub const SOURCES: [&str; 5] = ["startup", "resume", "clear", "compact", "fork"];
/// how it may end,
pub const REASONS: [&str; 7] = [
    "clear",
    "logout",
    "prompt_input_exit",
    "resume",
    "compact",
    "bypass_permissions_disabled",
    OTHER,
];
/// and why its context may be compacted.
pub const TRIGGERS: [&str; 2] = ["manual", "auto"];

/// The id, if it is one.
pub fn id(text: String) -> Option<String> {
    let of_ids = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '-' | '@' | '/');
    let is_one = text.len() <= ID_CHARS_MAX && text.chars().all(of_ids) && redact::is_clean(&text);
    is_one.then_some(text)
}

/// A session's id. One that may not be stored still tells its session from others.
pub fn session(text: String) -> String {
    if redact::is_clean(&text) {
        return text;
    }
    key::hex(&key::digest(&[text.as_bytes()]))
}

/// The word, if it is one of the known ones.
pub fn word(text: &str, known: &[&str]) -> String {
    let known = known.iter().find(|known| **known == text);
    known.map_or(OTHER, |known| known).to_owned()
}

/// A path that can be followed. One with something secret in it is not stored, and what is left
/// of it would lead nowhere.
pub fn path(text: &str) -> Option<String> {
    match redact::path(text) {
        Cow::Borrowed(path) => Some(path.to_owned()),
        Cow::Owned(_) => None,
    }
}
