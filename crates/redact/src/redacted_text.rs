//! The whole redaction of one text, in its order: private blocks, the cut, secrets.

use std::borrow::Cow;

use super::cut::{self, HeadTailLimit};
use super::private;
use super::secrets::{find, mask};

/// A redacted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactedText<'a> {
    pub text: Cow<'a, str>,
    /// The text consisted of private blocks only; such a prompt mutes its turn.
    pub fully_private: bool,
    /// The number of secrets masked.
    pub masked: u32,
}

/// Redacts one text: private blocks, then the cut, then secrets.
pub fn text(text: &str, keep: HeadTailLimit) -> RedactedText<'_> {
    let stripped = private::strip(text);
    let fully_private = stripped.is_fully_private();
    match cut::redact(&stripped.text, keep) {
        Some((text, masked)) => RedactedText { text: Cow::Owned(text), fully_private, masked },
        None => RedactedText { text: stripped.text, fully_private, masked: 0 },
    }
}

/// Masks the secrets of a text, and nothing else.
pub fn secrets(text: &str) -> Cow<'_, str> {
    mask(text).map_or(Cow::Borrowed(text), |(masked, _)| Cow::Owned(masked))
}

/// Whether the text contains neither private blocks nor secrets.
pub fn is_clean(text: &str) -> bool {
    matches!(private::strip(text).text, Cow::Borrowed(_)) && find(text).is_empty()
}
