//! Finds values assigned to names that promise a secret: `.env` lines, YAML, JSON, code, command
//! options, query parameters, XML, and prose.
//!
//! `names` says how likely the name is to hold a secret, `place` how literally the value is meant,
//! `value` how much it looks like one; `judge` combines the three.

use super::assigned_value::{AssignedValue, ValueContext};
use super::class;
use super::code;
use super::judge::judge;
use super::names::{self, NamePromise};
use super::place;
use super::rules::{AnchorScanner, RuleAnchor, RuleId};
use super::shape;
use super::value::{self, ValueRandomness};
use super::value_form;

const NAME_BYTES_MAX: usize = 80;

/// Start and end of a secret, and its rule.
type SecretMatch = (usize, usize, RuleId);

/// The secret assigned to the name that contains `anchor` at `at`.
pub(super) fn secret_at(bytes: &[u8], at: usize, anchor: &RuleAnchor) -> Option<SecretMatch> {
    let (start, end) = match anchor.scanner {
        // We cannot split names in other languages into words.
        AnchorScanner::Word => (at, at + anchor.len()),
        _ => name_around(bytes, at, anchor.len())?,
    };
    if !place::may_follow(bytes, end) {
        return None;
    }
    match anchor.scanner {
        AnchorScanner::Named => {
            let value = place::find_value(bytes, start, end)?;
            let whole = shape::matches_whole(anchor.rule.rule(), value.slice(bytes));
            whole.then_some((value.start, value.end, anchor.rule))
        }
        AnchorScanner::Word => secret_by_promise(bytes, start, end, NamePromise::Maybe),
        _ => secret_by_promise(bytes, start, end, promise(bytes, start, end)?),
    }
}

/// What the name promises; for a plain `key`, with the word before it.
fn promise(bytes: &[u8], start: usize, end: usize) -> Option<NamePromise> {
    let promise = names::promise(&bytes[start..end])?;
    if promise != NamePromise::Weak || start == 0 || bytes[start - 1] != b' ' {
        return Some(promise);
    }
    let owner = class::run_back(&bytes[..start - 1], class::ALPHA, NAME_BYTES_MAX);
    names::promise(&bytes[start - 1 - owner..end])
}

/// The value assigned to the name, if it is a secret under this promise.
fn secret_by_promise(bytes: &[u8], start: usize, end: usize, promise: NamePromise) -> Option<SecretMatch> {
    let value = place::find_value(bytes, start, end)?;
    if value.place == ValueContext::Expression {
        return literal_in(bytes, value, promise).or_else(|| pair_in(bytes, value, &bytes[start..end]));
    }
    let whole = match value.place {
        ValueContext::ConfigLine | ValueContext::Unquoted | ValueContext::Juxtaposed => {
            code::extend_value(bytes, value)
        }
        _ => value,
    };
    let rule = judge(promise, value.place, value.slice(bytes))
        .or_else(|| judge(promise, value.place, whole.slice(bytes)))?;
    let rule = shape::rule_of_whole(whole.slice(bytes)).unwrap_or(rule);
    Some((whole.start, whole.end, rule))
}

/// The extent of the name around an anchor.
fn name_around(bytes: &[u8], at: usize, length: usize) -> Option<(usize, usize)> {
    let mut start = at - class::run_back(&bytes[..at], class::TILDE, NAME_BYTES_MAX);
    // In `\npassword` and after a terminal colour, the letter before the name does not belong to
    // it.
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

/// A secret literal within an expression: a default value, an argument.
fn literal_in(bytes: &[u8], code: AssignedValue, promise: NamePromise) -> Option<SecretMatch> {
    let mut from = code.start;
    while let Some(literal) = place::next_literal(bytes, from, code.end) {
        let value = literal.slice(bytes);
        let random = value::classify_value(value) == ValueRandomness::Random && value.len() >= 16;
        if random && let Some(rule) = judge(promise, ValueContext::Unquoted, value) {
            let rule = shape::rule_of_whole(value).unwrap_or(rule);
            return Some((literal.start, literal.end, rule));
        }
        from = literal.end + 1;
    }
    None
}

/// The password of a credential pair: `auth=("user", "password")`, `auth = HTTPBasicAuth("user",
/// "password")`.
fn pair_in(bytes: &[u8], code: AssignedValue, name: &[u8]) -> Option<SecretMatch> {
    let expression = code.slice(bytes);
    let pair = expression.starts_with(b"(") || value_form::contains(expression, b"BasicAuth(");
    if !pair || !name.to_ascii_lowercase().ends_with(b"auth") {
        return None;
    }
    let user = place::next_literal(bytes, code.start, code.end)?;
    let password = place::next_literal(bytes, user.end + 1, code.end)?;
    let rule = judge(NamePromise::Password, ValueContext::Unquoted, password.slice(bytes))?;
    Some((password.start, password.end, rule))
}
