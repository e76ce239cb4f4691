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
    let from = at.saturating_sub(REACH_BYTES);
    let until = bytes.len().min(at + REACH_BYTES);
    let open = opening_brace(bytes, from, at)?;
    let close = closing_brace(bytes, open, until).unwrap_or(until);
    value_in(bytes, open + 1..close)
}

/// The secret value in the object that opens at `open`.
pub(super) fn secret_inside(bytes: &[u8], open: usize) -> Option<(usize, usize, RuleId)> {
    let until = bytes.len().min(open + REACH_BYTES);
    value_in(bytes, open + 1..closing_brace(bytes, open, until).unwrap_or(until))
}

/// The first string in `range` whose field is named like a value, if it may be a secret.
fn value_in(bytes: &[u8], range: Range<usize>) -> Option<(usize, usize, RuleId)> {
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
        if !is_value_name(&bytes[open.end..end]) {
            continue;
        }
        let joint = bytes[here..].iter().take(8).take_while(|b| matches!(b, b' ' | b':' | b'\t')).count();
        let Some(text) = opening_quote_at(bytes, here + joint).filter(|_| joint > 0) else {
            continue;
        };
        let stop = literal::literal_end(bytes, text);
        here = stop;
        let value = &bytes[text.end..stop];
        if value.len() >= 4 && value::classify_value(value) > ValueRandomness::NotSecret {
            return Some((text.end, stop, NAMED_VALUE));
        }
    }
    None
}
