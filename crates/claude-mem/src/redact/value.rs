//! How much a value looks like a secret, whatever it is assigned to.

use super::class;
use super::reference::{is_blank, is_literal, is_reference};
use super::shape::entropy;

/// From "there is no secret here" to "no person chose these letters".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// Empty, a placeholder, a reference to a value that is kept elsewhere, a sentence.
    Nothing,
    /// Words: an identifier, a label, a weak password.
    Word,
    /// Letters with digits or signs between them.
    Mixed,
    /// What a generator makes.
    Random,
}

/// Weighs a value without its quotes.
pub(super) fn weigh(value: &[u8]) -> Weight {
    if is_blank(value) || is_reference(value) || is_literal(value) {
        Weight::Nothing
    } else if value.iter().any(u8::is_ascii_whitespace) {
        weigh_phrase(value)
    } else if is_alphabet(value) {
        Weight::Word
    } else if is_random(value) {
        Weight::Random
    } else if is_wordlike(value) {
        Weight::Word
    } else {
        Weight::Mixed
    }
}

/// Several words. A sentence is a label; a row of small words may be a passphrase.
fn weigh_phrase(value: &[u8]) -> Weight {
    let words = value
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let small = value
        .iter()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_whitespace());
    match words.count() {
        12.. if small => Weight::Random,
        3.. if small => Weight::Word,
        2 if !is_wordlike(value) && has_digit_and_sign(value) => Weight::Mixed,
        _ => Weight::Nothing,
    }
}

fn has_digit_and_sign(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(|b| b"!@#$%^&*+=".contains(b))
}

/// Rows of an alphabet: examples, and tables of characters.
fn is_alphabet(value: &[u8]) -> bool {
    const ROWS: [&[u8]; 3] = [b"abcdefghij", b"ABCDEFGHIJ", b"0123456789"];
    ROWS.iter().any(|row| contains(value, row))
}

/// No word is this long.
const WORD_BYTES_MAX: usize = 24;

/// Letters in runs that a person would write, with a few digits at most.
pub(super) fn is_wordlike(value: &[u8]) -> bool {
    let is_letter = |b: &u8| b.is_ascii_alphabetic() || !b.is_ascii();
    let is_joint = |b: &u8| b"_-./: \\@,".contains(b);
    let letters = value.iter().filter(|b| is_letter(b)).count();
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let joints = value.iter().filter(|b| is_joint(b)).count();
    let lower = value
        .split(|b| !b.is_ascii_lowercase())
        .map(<[u8]>::len)
        .max();
    if letters + digits + joints < value.len() || letters == 0 || lower > Some(WORD_BYTES_MAX) {
        return false;
    }
    // `sha256`, `user_1`, `v2`: digits end a word, and are few.
    let inside = value
        .windows(2)
        .filter(|w| w[0].is_ascii_digit() && w[1].is_ascii_alphabetic());
    digits == 0 || (digits * 4 <= letters && joints > 0 && inside.count() <= 1)
}

/// Long, of many different bytes, and changing between letters, digits and cases all the time.
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

/// Only bytes that machine-made tokens have.
pub(super) fn is_token(value: &[u8]) -> bool {
    value
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || b"_-+/=.~:%!@|".contains(b))
}

/// Hexadecimal digits and dashes only: checksums, commits, UUIDs.
pub(super) fn is_hex(value: &[u8]) -> bool {
    value
        .iter()
        .all(|&b| class::has(class::XHEX, b) || b == b'-')
}

/// A regular expression or a format, not a value.
pub(super) fn is_pattern(value: &[u8]) -> bool {
    const SIGNS: &str = r"\d \w \s \b .* .+ [^ ]+ ]* (? [a- [0-";
    SIGNS
        .split(' ')
        .any(|sign| contains(value, sign.as_bytes()))
}

/// Words that stand where a password would without being one: types, states, what a form or a
/// setting says there, and whatever has the field's own name in it.
pub(super) fn is_common(value: &[u8]) -> bool {
    const WORDS: &str = "string str text bytes buffer char varchar bool boolean number int integer \
        any unknown never object optional required missing invalid valid incorrect wrong expired \
        hidden default changed enabled disabled input field value type self this request body form \
        data label include omit same-origin ask prompt env config settings options args";
    const PARTS: &str = "pass pwd secret token key your example placeholder dummy user cred";
    let lower = value.to_ascii_lowercase();
    WORDS.split(' ').any(|word| lower == word.as_bytes())
        || PARTS
            .split(' ')
            .any(|part| contains(&lower, part.as_bytes()))
}

pub(super) fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}
