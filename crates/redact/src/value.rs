//! Classifies how much a value looks like a secret, whatever it is assigned to.

use super::reference::{is_blank, is_literal, is_reference};
use super::shape::entropy;
use super::value_form::{contains, is_token, is_wordlike};

/// How random a value looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueRandomness {
    /// Empty, a placeholder, a reference to a value stored elsewhere, a sentence.
    NotSecret,
    /// Words: an identifier, a label, a weak password.
    Word,
    /// Letters mixed with digits or punctuation.
    Mixed,
    /// Generated.
    Random,
}

/// Classifies a value without its quotes.
pub(super) fn classify_value(value: &[u8]) -> ValueRandomness {
    if is_blank(value) || is_reference(value) || is_literal(value) {
        ValueRandomness::NotSecret
    } else if is_dense(value) {
        ValueRandomness::Random
    } else if value.iter().any(u8::is_ascii_whitespace) {
        classify_phrase(value)
    } else if is_alphabet(value) {
        ValueRandomness::Word
    } else if is_random(value) {
        ValueRandomness::Random
    } else if is_wordlike(value) {
        ValueRandomness::Word
    } else {
        ValueRandomness::Mixed
    }
}

/// Classifies several words. A sentence is a label; a row of lower-case words may be a passphrase.
fn classify_phrase(value: &[u8]) -> ValueRandomness {
    let words = value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let small = value.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_whitespace());
    match words.count() {
        12.. if small => ValueRandomness::Random,
        3.. if small => ValueRandomness::Word,
        2 if !is_wordlike(value) && has_digit_and_sign(value) => ValueRandomness::Mixed,
        2..=4 if value.split(u8::is_ascii_whitespace).any(is_strong) => ValueRandomness::Mixed,
        _ => ValueRandomness::NotSecret,
    }
}

/// Whether the word mixes letters, digits and signs as only passwords do.
pub(super) fn is_strong(word: &[u8]) -> bool {
    word.len() >= 8
        && word.iter().any(u8::is_ascii_lowercase)
        && word.iter().any(u8::is_ascii_digit)
        && word[1..word.len() - 1].iter().any(|b| b"!#$%^&*".contains(b))
}

/// Whether it is a long row of letters, digits and signs of all kinds, with or without blanks, as
/// generators of salts make it.
fn is_dense(value: &[u8]) -> bool {
    if value.len() < 40 || value.len() > 512 {
        return false;
    }
    let count = |is: fn(&u8) -> bool| value.iter().filter(|b| is(b)).count();
    let signs = count(u8::is_ascii_punctuation);
    let blanks = count(u8::is_ascii_whitespace);
    count(u8::is_ascii_lowercase) * 8 >= value.len()
        && count(u8::is_ascii_uppercase) * 8 >= value.len()
        && count(u8::is_ascii_digit) * 16 >= value.len()
        && signs * 6 >= value.len()
        && blanks * 12 <= value.len()
}

fn has_digit_and_sign(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(|b| b"!@#$%^&*+=".contains(b))
}

/// Whether it contains a row of the alphabet, as examples and character tables do.
fn is_alphabet(value: &[u8]) -> bool {
    const ROWS: [&[u8]; 3] = [b"abcdefghij", b"ABCDEFGHIJ", b"0123456789"];
    ROWS.iter().any(|row| contains(value, row))
}

/// Whether it looks generated: long, of many different bytes, and frequently switching between
/// letters, digits and cases.
pub(super) fn is_random(value: &[u8]) -> bool {
    if value.len() < 12 || !is_token(value) {
        return false;
    }
    let kind = |b: u8| match b {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    let mut jumps = 0;
    for (i, pair) in value.windows(2).enumerate() {
        let (a, b) = (kind(pair[0]), kind(pair[1]));
        let capitalised = (a, b) == (2, 1) && (i == 0 || kind(value[i - 1]) != 2);
        if a != 0 && b != 0 && a != b && !capitalised {
            jumps += 1;
        }
    }
    jumps * 5 >= value.len() && entropy(value) >= 2.8
}
