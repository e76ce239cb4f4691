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

fn is_token(credentials: &[u8]) -> bool {
    credentials.len() >= 8 && value::weigh(credentials) >= Weight::Mixed
}

/// Base64 of `user:password`.
fn is_user_and_password(credentials: &[u8]) -> bool {
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
            if byte.is_ascii_control() {
                return false;
            }
        }
    }
    colon && credentials.len() >= 6
}
