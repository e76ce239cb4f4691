//! Shortens long texts in the middle: the beginning says what it is, the end how it turned out.

use std::borrow::Cow;

/// Space for the note about the omitted bytes.
const NOTE_BYTES_MAX: usize = 40;

/// Shortens a text to `bytes_max` bytes, with a note in place of the omitted middle.
pub(super) fn shorten(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    let Some(room) = bytes_max.checked_sub(NOTE_BYTES_MAX) else {
        return Cow::Borrowed(prefix(text, bytes_max));
    };
    // Errors and results are at the end, so the end gets a little more.
    let head = prefix(text, room * 2 / 5);
    let tail = suffix(text, room - head.len());
    let missing = text.len() - head.len() - tail.len();
    Cow::Owned(format!("{head}\n[… {missing} bytes left out …]\n{tail}"))
}

/// At most `bytes_max` bytes from the beginning, never cut inside a character.
pub(super) fn prefix(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

fn suffix(text: &str, bytes_max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes_max))..]
}

#[cfg(test)]
#[path = "truncate_middle_tests.rs"]
mod tests;
