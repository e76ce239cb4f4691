//! Finds credentials after an authentication scheme: `Bearer …`, `Basic …`.

use super::class;
use super::rules::RuleId;
use super::shape::{self, word_begins};
use super::value::{self, ValueRandomness};

const AUTHORIZATION: RuleId = RuleId::named("authorization");
const CREDENTIALS: class::ByteClass = class::TILDE | class::B64;

/// The credentials after the scheme of `length` bytes at `at`.
pub(super) fn secret_at(bytes: &[u8], at: usize, length: usize) -> Option<(usize, usize, RuleId)> {
    if !word_begins(bytes, at) {
        return None;
    }
    if bytes[at..at + length].eq_ignore_ascii_case(b"authorization") {
        return header(bytes, at + length);
    }
    let rest = &bytes[at + length..];
    let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let start = at + length + blanks;
    let credentials = &bytes[start..];
    let credentials = &credentials[..class::run(credentials, CREDENTIALS, usize::MAX)];
    let basic = bytes[at..at + length].eq_ignore_ascii_case(b"basic");
    let secret = if basic { is_user_and_password(credentials) } else { is_token(credentials) };
    let rule = shape::rule_of_whole(credentials).unwrap_or(AUTHORIZATION);
    (blanks > 0 && secret).then_some((start, start + credentials.len(), rule))
}

/// `Authorization: scheme credentials` with any other scheme, or none.
fn header(bytes: &[u8], name_end: usize) -> Option<(usize, usize, RuleId)> {
    let joint = |b: &&u8| matches!(**b, b' ' | b'\t' | b'"' | b'\'' | b'\\' | b':' | b'=' | b',' | b'`');
    let mut start = name_end + bytes[name_end..].iter().take(8).take_while(joint).count();
    if start == name_end {
        return None;
    }
    for _ in 0..2 {
        let length = class::run(&bytes[start..], CREDENTIALS, usize::MAX);
        let word = &bytes[start..start + length];
        if is_token(word) && value::classify_value(word) == ValueRandomness::Random {
            let rule = shape::rule_of_whole(word).unwrap_or(AUTHORIZATION);
            return Some((start, start + length, rule));
        }
        start += length;
        if bytes.get(start) != Some(&b' ') {
            return None;
        }
        start += 1;
    }
    None
}

/// Whether these are credentials. A challenge has parameters in the same position: `Bearer
/// realm="…"`.
fn is_token(credentials: &[u8]) -> bool {
    let padding = credentials.iter().rev().take_while(|b| **b == b'=').count();
    let credentials = &credentials[..credentials.len() - padding];
    credentials.len() >= 8
        && !credentials.contains(&b'=')
        && value::classify_value(credentials) >= ValueRandomness::Mixed
}

/// Whether this is base64 of `user:password`.
pub(super) fn is_user_and_password(credentials: &[u8]) -> bool {
    let (mut bits, mut held) = (0_u32, 0);
    let mut colon = false;
    for &b in credentials.iter().take_while(|b| **b != b'=') {
        let digit = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return false,
        };
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            let byte = (bits >> held) as u8;
            colon |= byte == b':';
            if byte.is_ascii_control() || !byte.is_ascii() {
                return false;
            }
        }
    }
    colon && credentials.len() >= 8 && credentials.len().is_multiple_of(4)
}
