//! Values assigned to names that promise a secret: `.env` lines, YAML, JSON, code, options of a
//! command, parts of a query, XML, and what people write to their agents.
//!
//! The name says how likely a secret is (`names`), the place how literally its value is meant
//! (`place`), the value how much it looks like one (`value`); `judge` puts them together.

use super::class;
use super::code;
use super::judge::judge;
use super::names::{self, Promise};
use super::place::{self, Place, Value};
use super::rules::{Anchor, RuleId, Scanner};
use super::shape;
use super::value::{self, Weight};

const NAME_BYTES_MAX: usize = 80;

/// A secret: where it starts and ends, and its rule.
type Found = (usize, usize, RuleId);

/// The secret assigned to the name that has `anchor` at `at`.
pub(super) fn at(bytes: &[u8], at: usize, anchor: &Anchor) -> Option<Found> {
    let (start, end) = match anchor.scanner {
        // Words of other languages have no parts that we could read.
        Scanner::Word => (at, at + anchor.len()),
        _ => name(bytes, at, anchor.len())?,
    };
    if !place::may_follow(bytes, end) {
        return None;
    }
    match anchor.scanner {
        Scanner::Named => {
            let value = place::value(bytes, start, end)?;
            let whole = shape::is_whole(anchor.rule.rule(), value.of(bytes));
            whole.then_some((value.start, value.end, anchor.rule))
        }
        Scanner::Word => of_promise(bytes, start, end, Promise::Maybe),
        _ => of_promise(bytes, start, end, promise(bytes, start, end)?),
    }
}

/// What the name promises; for a plain `key`, together with the word before it.
fn promise(bytes: &[u8], start: usize, end: usize) -> Option<Promise> {
    let promise = names::promise(&bytes[start..end])?;
    if promise != Promise::Weak || start == 0 || bytes[start - 1] != b' ' {
        return Some(promise);
    }
    let owner = class::run_back(&bytes[..start - 1], class::ALPHA, NAME_BYTES_MAX);
    names::promise(&bytes[start - 1 - owner..end])
}

fn of_promise(bytes: &[u8], start: usize, end: usize, promise: Promise) -> Option<Found> {
    let value = place::value(bytes, start, end)?;
    if value.place == Place::Code {
        return literal_in(bytes, value, promise)
            .or_else(|| pair_in(bytes, value, &bytes[start..end]));
    }
    let whole = match value.place {
        Place::Line | Place::Loose | Place::Bare => code::whole(bytes, value),
        _ => value,
    };
    let rule = judge(promise, value.place, value.of(bytes))
        .or_else(|| judge(promise, value.place, whole.of(bytes)))?;
    let rule = shape::of_whole(whole.of(bytes)).unwrap_or(rule);
    Some((whole.start, whole.end, rule))
}

/// Where the name around an anchor begins and ends.
fn name(bytes: &[u8], at: usize, length: usize) -> Option<(usize, usize)> {
    let mut start = at - class::run_back(&bytes[..at], class::TILDE, NAME_BYTES_MAX);
    // `\npassword` and a terminal's colour put a letter before the name that is none of it.
    while start < at && !shape::word_begins(bytes, start) {
        start += 1;
    }
    if start < at && shape::word_begins(bytes, start + 1) && bytes[start].is_ascii_alphabetic() {
        start += 1;
    }
    let mut end = at + length;
    end += class::run(&bytes[end..], class::URL, NAME_BYTES_MAX);
    while bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_alphabetic) {
        end += 1;
        end += class::run(&bytes[end..], class::URL, NAME_BYTES_MAX);
        if end - start > NAME_BYTES_MAX {
            return None;
        }
    }
    (end - start <= NAME_BYTES_MAX).then_some((start, end))
}

/// An expression may have the secret in it as a literal: a default, an argument.
fn literal_in(bytes: &[u8], code: Value, promise: Promise) -> Option<Found> {
    let mut from = code.start;
    while let Some(literal) = place::next_literal(bytes, from, code.end) {
        let value = literal.of(bytes);
        let random = value::weigh(value) == Weight::Random && value.len() >= 16;
        if random && let Some(rule) = judge(promise, Place::Loose, value) {
            let rule = shape::of_whole(value).unwrap_or(rule);
            return Some((literal.start, literal.end, rule));
        }
        from = literal.end + 1;
    }
    None
}

/// `auth=("user", "password")`, `auth = HTTPBasicAuth("user", "password")`
fn pair_in(bytes: &[u8], code: Value, name: &[u8]) -> Option<Found> {
    let expression = code.of(bytes);
    let pair = expression.starts_with(b"(") || value::contains(expression, b"BasicAuth(");
    if !pair || !name.to_ascii_lowercase().ends_with(b"auth") {
        return None;
    }
    let user = place::next_literal(bytes, code.start, code.end)?;
    let password = place::next_literal(bytes, user.end + 1, code.end)?;
    let rule = judge(Promise::Password, Place::Loose, password.of(bytes))?;
    Some((password.start, password.end, rule))
}
