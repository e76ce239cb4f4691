//! Finds generated passwords that no name announces: words that mix small letters, capitals, digits
//! and signs as nothing else does, wherever they stand.
//!
//! A sign with a digit beside it inside a word is rare in code and prose; everything else is examined
//! only there.

use super::rules::RuleId;
use super::secret_span::SecretSpan;

const GENERATED_PASSWORD: RuleId = RuleId::named("generated-password");
const PASSWORD_BYTES_MIN: usize = 9;
/// Longer words are encoded data.
const PASSWORD_BYTES_MAX: usize = 64;
/// More signs make it a pattern or an expression.
const SIGNS_MAX: usize = 4;

/// Appends all generated passwords of `text`.
pub(super) fn find(text: &str, spans: &mut Vec<SecretSpan>) {
    let bytes = text.as_bytes();
    let signs = memchr::memchr3_iter(b'!', b'#', b'^', bytes);
    signs.for_each(|at| push_word(bytes, at, spans));
    memchr::memchr2_iter(b'%', b'*', bytes).for_each(|at| push_word(bytes, at, spans));
}

fn push_word(bytes: &[u8], sign: usize, spans: &mut Vec<SecretSpan>) {
    if let Some((start, end)) = word_around(bytes, sign) {
        spans.push(SecretSpan { start, end, rule: GENERATED_PASSWORD });
    }
}

/// The password around the sign at `sign`.
fn word_around(bytes: &[u8], sign: usize) -> Option<(usize, usize)> {
    let (before, after) = (*bytes.get(sign.wrapping_sub(1))?, *bytes.get(sign + 1)?);
    let joins = before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric();
    if !joins || !(before.is_ascii_digit() || after.is_ascii_digit()) {
        return None;
    }
    let back = bytes[..sign].iter().rev().take(PASSWORD_BYTES_MAX).take_while(|b| is_of_word(**b)).count();
    let ahead = bytes[sign..].iter().take(PASSWORD_BYTES_MAX).take_while(|b| is_of_word(**b)).count();
    let (start, end) = (sign - back, sign + ahead);
    // `-pSECRET`
    let start =
        if matches!(bytes[start..end], [b'-', b'a'..=b'z' | b'A'..=b'Z', ..]) { start + 2 } else { start };
    let word = &bytes[start..end];
    let trailing = word.iter().rev().take_while(|b| !b.is_ascii_alphanumeric() && !is_key_sign(**b)).count();
    let end = end - trailing;
    let before = bytes[..start].last();
    // A path, a class of a pattern, an escaped byte.
    let in_path = before == Some(&b'/') && matches!(bytes[sign], b'#' | b'%');
    let in_class = before == Some(&b'[') && bytes.get(end) == Some(&b']');
    let escaped = before == Some(&b'\\') && bytes[start] == b'x';
    let starts = !in_path
        && !in_class
        && !escaped
        && before.is_none_or(|b| !matches!(b, b')' | b']' | b'}' | b'.' | b'$' | b'&'));
    let ends = bytes.get(end).is_none_or(|b| !matches!(b, b'/' | b'=' | b'(' | b'[' | b'{'))
        && !(bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric));
    let fits = starts && ends && sign < end && is_password(&bytes[start..end]);
    (fits && !is_expression(&bytes[start..end], sign - start)).then_some((start, end))
}

const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'!' | b'#' | b'%' | b'^' | b'*' | b'&' | b'$' | b'?' | b'~' | b'+' | b'_' | b'-')
}

const fn is_key_sign(byte: u8) -> bool {
    matches!(byte, b'!' | b'#' | b'%' | b'^' | b'*')
}

fn is_password(word: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| word.iter().filter(|b| is(b)).count();
    let signs = word.iter().filter(|b| !b.is_ascii_alphanumeric()).count();
    (PASSWORD_BYTES_MIN..=PASSWORD_BYTES_MAX).contains(&word.len())
        && count(u8::is_ascii_lowercase) >= 2
        && count(u8::is_ascii_uppercase) >= 1
        && count(u8::is_ascii_digit) >= 2
        && signs <= SIGNS_MAX
        && !word.windows(2).any(|w| !w[0].is_ascii_alphanumeric() && !w[1].is_ascii_alphanumeric())
        && !word.windows(3).any(is_escape)
        && word.windows(3).filter(|text| escaped_byte(text).is_some()).count() < 2
}

/// Whether it is an operator or a separator between names and numbers: `Width1*Height2`, `Sheet1!B12`,
/// `Array#first2`.
fn is_expression(word: &[u8], sign: usize) -> bool {
    let left = word[..sign].rsplit(|b| is_key_sign(*b)).next().unwrap_or_default();
    let right = word[sign + 1..].split(|b| is_key_sign(*b)).next().unwrap_or_default();
    let digits = left.iter().filter(|b| b.is_ascii_digit()).count();
    let is_name = |text: &[u8]| {
        let letters =
            text.iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'_' || **b == b'-').count();
        text[letters..].iter().all(u8::is_ascii_digit)
    };
    // A cell of a spreadsheet: capitals and then digits.
    let capitals = right.iter().take_while(|b| b.is_ascii_uppercase()).count();
    let cell = word[sign] == b'!'
        && (1..=3).contains(&capitals)
        && right.len() > capitals
        && right[capitals..].iter().all(u8::is_ascii_digit);
    digits == 0 || cell && is_name(left) || digits == 1 && is_name(left) && is_name(right)
}

/// Whether `%XX` escapes a sign; a letter or digit is never escaped.
fn is_escape(text: &[u8]) -> bool {
    escaped_byte(text).is_some_and(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric())
}

/// The byte of `%XX`.
fn escaped_byte(text: &[u8]) -> Option<u8> {
    let [b'%', high, low] = *text else {
        return None;
    };
    let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8);
    Some(digit(high)? << 4 | digit(low)?)
}
