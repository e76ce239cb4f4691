//! Credentials behind the name of an authentication scheme: `Bearer …`, `Basic …`.

use super::class;
use super::rules::RuleId;
use super::shape::{self, word_begins};
use super::value::{self, Weight};

const AUTHORIZATION: RuleId = RuleId::named("authorization");
const CREDENTIALS: class::Class = class::TILDE | class::B64;

/// The credentials after the scheme of `length` bytes at `at`.
pub(super) fn at(bytes: &[u8], at: usize, length: usize) -> Option<(usize, usize, RuleId)> {
    if !word_begins(bytes, at) {
        return None;
    }
    if bytes[at..at + length].eq_ignore_ascii_case(b"authorization") {
        return header(bytes, at + length);
    }
    let rest = &bytes[at + length..];
    let blanks = rest
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count();
    let start = at + length + blanks;
    let credentials = &bytes[start..];
    let credentials = &credentials[..class::run(credentials, CREDENTIALS, usize::MAX)];
    let basic = bytes[at..at + length].eq_ignore_ascii_case(b"basic");
    let secret = if basic {
        is_user_and_password(credentials)
    } else {
        is_token(credentials)
    };
    let rule = shape::of_whole(credentials).unwrap_or(AUTHORIZATION);
    (blanks > 0 && secret).then_some((start, start + credentials.len(), rule))
}

/// `Authorization: scheme credentials`, with a scheme that has no name of its own here, or none.
fn header(bytes: &[u8], name_end: usize) -> Option<(usize, usize, RuleId)> {
    let joint = |b: &&u8| {
        matches!(
            **b,
            b' ' | b'\t' | b'"' | b'\'' | b'\\' | b':' | b'=' | b',' | b'`'
        )
    };
    let mut start = name_end + bytes[name_end..].iter().take(8).take_while(joint).count();
    if start == name_end {
        return None;
    }
    for _ in 0..2 {
        let length = class::run(&bytes[start..], CREDENTIALS, usize::MAX);
        let word = &bytes[start..start + length];
        if is_token(word) && value::weigh(word) == Weight::Random {
            let rule = shape::of_whole(word).unwrap_or(AUTHORIZATION);
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

/// A challenge names its parameters in the same place: `Bearer realm="…"`.
fn is_token(credentials: &[u8]) -> bool {
    let padding = credentials.iter().rev().take_while(|b| **b == b'=').count();
    let credentials = &credentials[..credentials.len() - padding];
    credentials.len() >= 8
        && !credentials.contains(&b'=')
        && value::weigh(credentials) >= Weight::Mixed
}

/// Base64 of `user:password`.
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
