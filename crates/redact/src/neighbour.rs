//! Finds the value of a JSON object that another field of the object, or the object's own name,
//! calls secret: `{"Name": "/prod/db/password", "Type": "SecureString", "Value": "…"}`.
//!
//! This works on the text, because most JSON arrives inside a string: the output of a command. The
//! object may be escaped.

use std::ops::Range;

use super::json_braces::{closing_brace, opening_brace};
use super::literal::{self, opening_quote_at, quote_at};
use super::rules::RuleId;
use super::value::{self, ValueRandomness};

const NAMED_VALUE: RuleId = RuleId::named("named-value");
/// How far from its name the value of an object is looked for.
const REACH_BYTES: usize = 4096;

/// Minimum length of a private part of a key.
const KEY_PART_BYTES_MIN: usize = 16;

/// Names of fields that hold the value of an object.
const VALUE_NAMES: [&str; 19] = [
    "value",
    "val",
    "v",
    "result",
    "plaintext",
    "secretstring",
    "secretvalue",
    "secret_value",
    "string_value",
    "stringvalue",
    "payload",
    "password",
    "default",
    "current",
    "parametervalue",
    "outputvalue",
    "settingvalue",
    "current_value",
    "currentvalue",
];

/// Whether a field of this name holds the value of its object.
pub(super) fn is_value_name(name: &[u8]) -> bool {
    VALUE_NAMES.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// The secret value beside the field that is called out at `at`: the object around it, or the object
/// in one of its fields.
pub(super) fn secret_beside(bytes: &[u8], at: usize) -> Option<(usize, usize, RuleId)> {
    value_in(bytes, object_around(bytes, at)?)
}

/// The private part of a JSON Web Key whose type is at `at`.
pub(super) fn private_key_part(bytes: &[u8], at: usize) -> Option<(usize, usize, RuleId)> {
    let is_part = |name: &[u8], value: &[u8]| is_key_part(name) && value.len() >= KEY_PART_BYTES_MIN;
    field_in(bytes, object_around(bytes, at)?, is_part)
}

/// The value of a cookie in an object that describes it.
pub(super) fn cookie_value(bytes: &[u8], at: usize) -> Option<(usize, usize, RuleId)> {
    let is_secret = |name: &[u8], value: &[u8]| {
        name == b"value" && value.len() >= 8 && value::classify_value(value) >= ValueRandomness::Mixed
    };
    field_in(bytes, object_around(bytes, at)?, is_secret)
}

/// Whether a field of a JSON Web Key is private.
pub(super) fn is_key_part(name: &[u8]) -> bool {
    matches!(name, b"k" | b"d" | b"p" | b"q" | b"dp" | b"dq" | b"qi")
}

/// The fields of the object around `at`.
fn object_around(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let open = opening_brace(bytes, at.saturating_sub(REACH_BYTES), at)?;
    let until = bytes.len().min(at + REACH_BYTES);
    Some(open + 1..closing_brace(bytes, open, until).unwrap_or(until))
}

/// The secret value in the object that opens at `open`.
pub(super) fn secret_inside(bytes: &[u8], open: usize) -> Option<(usize, usize, RuleId)> {
    let until = bytes.len().min(open + REACH_BYTES);
    value_in(bytes, open + 1..closing_brace(bytes, open, until).unwrap_or(until))
}

/// The first string in `range` whose field is named like a value, if it may be a secret.
fn value_in(bytes: &[u8], range: Range<usize>) -> Option<(usize, usize, RuleId)> {
    field_in(bytes, range, |name, value| is_value_name(name) && value.len() >= 4)
}

/// The first string in `range` whose name and value fit, if it may be a secret.
fn field_in(
    bytes: &[u8],
    range: Range<usize>,
    fits: impl Fn(&[u8], &[u8]) -> bool,
) -> Option<(usize, usize, RuleId)> {
    let mut here = range.start;
    while here < range.end {
        let Some(open) =
            opening_quote_at(bytes, here).filter(|open| open.start == here || bytes[here] == b'\\')
        else {
            here += 1;
            continue;
        };
        let end = literal::literal_end(bytes, open);
        let close = quote_at(bytes, end)?;
        here = close.end;
        let name = &bytes[open.end..end];
        let joint = bytes[here..].iter().take(8).take_while(|b| matches!(b, b' ' | b':' | b'\t')).count();
        let Some(text) = opening_quote_at(bytes, here + joint).filter(|_| joint > 0) else {
            continue;
        };
        let stop = literal::literal_end(bytes, text);
        here = quote_at(bytes, stop).map_or(stop + 1, |close| close.end);
        let value = &bytes[text.end..stop];
        if fits(name, value) && value::classify_value(value) > ValueRandomness::NotSecret {
            return Some((text.end, stop, NAMED_VALUE));
        }
    }
    None
}
