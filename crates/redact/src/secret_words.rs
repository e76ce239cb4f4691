//! Words of a command line that may be secrets.

use super::judge::is_chosen;
use super::reference::is_placeholder;
use super::shell_words::ShellWord;
use super::value::{self, ValueRandomness};
use super::value_form;

/// The argument, if it may be a secret at all.
pub(super) fn secret_word(bytes: &[u8], word: ShellWord) -> Option<(usize, usize)> {
    let (start, end) = word.unquoted(bytes);
    is_secret(&bytes[start..end]).then_some((start, end))
}

pub(super) fn chosen_word(bytes: &[u8], word: ShellWord) -> Option<(usize, usize)> {
    let (start, end) = word.unquoted(bytes);
    let value = &bytes[start..end];
    is_chosen(value, value::classify_value(value)).then_some((start, end))
}

pub(super) fn sure_word(bytes: &[u8], word: ShellWord) -> Option<(usize, usize)> {
    let (start, end) = word.unquoted(bytes);
    is_sure(&bytes[start..end]).then_some((start, end))
}

/// Whether it can hardly be anything but a password: chosen, several digits or generated, and letters of
/// both cases or a sign.
pub(super) fn is_sure(value: &[u8]) -> bool {
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let plain = value.iter().all(|b| b.is_ascii_graphic() && !b"/\\:=,()[]{}<>|;\"'`".contains(b));
    value.len() >= 8
        && (digits >= 2 || value::is_strong(value) || value::is_random(value))
        && plain
        && is_chosen(value, value::classify_value(value))
        && value_form::is_mixed(value)
        && !is_placeholder(value)
}

pub(super) fn is_secret(value: &[u8]) -> bool {
    let weight = value::classify_value(value);
    let word = weight == ValueRandomness::Word && value_form::is_common(value);
    value.len() >= 3
        && value[0] != b'-'
        && weight > ValueRandomness::NotSecret
        && !word
        && !is_placeholder(value)
}
