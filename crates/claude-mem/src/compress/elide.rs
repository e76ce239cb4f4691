//! Long texts shortened in the middle: the beginning says what it is, the end how it came out.

use std::borrow::Cow;

/// Room that the note about what is missing takes.
const NOTE_BYTES_MAX: usize = 40;

/// At most `bytes_max` bytes of a text, with a note where something is missing.
pub(super) fn middle(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    let Some(room) = bytes_max.checked_sub(NOTE_BYTES_MAX) else {
        return Cow::Borrowed(head(text, bytes_max));
    };
    // Errors and results stand at the end, so that it gets a little more.
    let head = head(text, room * 2 / 5);
    let tail = tail(text, room - head.len());
    let missing = text.len() - head.len() - tail.len();
    Cow::Owned(format!("{head}\n[… {missing} bytes left out …]\n{tail}"))
}

pub(super) fn head(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

fn tail(text: &str, bytes_max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes_max))..]
}

#[cfg(test)]
#[path = "elide_tests.rs"]
mod tests;
