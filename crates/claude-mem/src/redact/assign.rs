//! Values assigned to names that promise a secret: `.env` lines, YAML, JSON, code, options of a
//! command, parts of a query, XML.
//!
//! The name says how likely a secret is, the place how likely the value is meant literally, the
//! value how much it looks like one. `judge` puts the three together; the rest finds them.

use super::class;
use super::names::{self, Promise};
use super::place::{self, Place, Value};
use super::rules::{Anchor, RuleId, Scanner};
use super::scheme;
use super::shape;
use super::value::{self, Weight};

const PASSWORD: RuleId = RuleId::named("password");
const SECRET: RuleId = RuleId::named("secret");
const HIGH_ENTROPY: RuleId = RuleId::named("high-entropy");

const NAME_BYTES_MAX: usize = 80;

/// The secret assigned to the name that has `anchor` at `at`, and where that name ends.
pub(super) fn at(bytes: &[u8], at: usize, anchor: &Anchor) -> Option<(usize, usize, RuleId)> {
    let (start, end) = name(bytes, at, anchor.len())?;
    if anchor.scanner == Scanner::Named {
        let value = place::value(bytes, start, end)?;
        let rule = anchor.rule;
        return shape::is_whole(rule.rule(), value.of(bytes)).then_some((
            value.start,
            value.end,
            rule,
        ));
    }
    let promise = names::promise(&bytes[start..end])?;
    let value = place::value(bytes, start, end)?;
    if value.place == Place::Code {
        return literal_in(bytes, value, promise);
    }
    judge(promise, value.place, value.of(bytes)).map(|rule| {
        (
            value.start,
            value.end,
            shape::of_whole(value.of(bytes)).unwrap_or(rule),
        )
    })
}

/// Where the name around an anchor begins and ends.
pub(super) fn name(bytes: &[u8], at: usize, length: usize) -> Option<(usize, usize)> {
    let is_name = class::URL | class::DOTTED;
    let mut start = at - class::run_back(&bytes[..at], is_name, NAME_BYTES_MAX);
    // `\npassword` and a terminal's colour put a letter before the name that is none of it.
    while start < at && !shape::word_begins(bytes, start) {
        start += 1;
    }
    if start < at && shape::word_begins(bytes, start + 1) && bytes[start].is_ascii_alphabetic() {
        start += 1;
    }
    let mut end = at + length;
    end += class::run(&bytes[end..], class::URL | class::WORD, NAME_BYTES_MAX);
    while bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_alphabetic) {
        end += 1;
        end += class::run(&bytes[end..], class::URL, NAME_BYTES_MAX);
        if end - start > NAME_BYTES_MAX {
            return None;
        }
    }
    (end - start <= NAME_BYTES_MAX).then_some((start, end))
}

/// Whether a value in a place is a secret, and by which rule.
pub(super) fn judge(promise: Promise, place: Place, value: &[u8]) -> Option<RuleId> {
    let weight = value::weigh(value);
    if weight == Weight::Nothing {
        return None;
    }
    let secret = match (promise, place) {
        (_, Place::Code) => false,
        (Promise::Weak, Place::Query) => weight == Weight::Random && value.len() >= 16,
        (Promise::Weak, _) => {
            place == Place::Quoted && scheme::is_user_and_password(value)
                || weight == Weight::Random
                    && value.len() >= 20
                    && !value::is_hex(value)
                    && varied(value)
        }
        (_, Place::Environment | Place::Query) => true,
        (Promise::Password, Place::Quoted) => weight >= Weight::Mixed || !value::is_common(value),
        // `settings.password` is where it is kept, `true/false` what it may be.
        (Promise::Password, Place::Line) => {
            let plain = class::run(value, class::URL, value.len()) == value.len();
            weight >= Weight::Mixed || (plain && !value::is_common(value))
        }
        (Promise::Password, Place::Loose) => {
            weight >= Weight::Mixed && value.len() >= 4 && !value.iter().all(u8::is_ascii_digit)
        }
        (Promise::Token, Place::Quoted | Place::Line) => {
            weight >= Weight::Mixed && value.len() >= 8 && value::is_token(value)
        }
        // A name of letters only is a type or a function, however its capitals jump.
        (Promise::Token, Place::Loose) => {
            weight == Weight::Random && value.len() >= 16 && value.iter().any(u8::is_ascii_digit)
        }
    };
    let rule = match promise {
        Promise::Password => PASSWORD,
        Promise::Token => SECRET,
        Promise::Weak => HIGH_ENTROPY,
    };
    secret.then_some(rule)
}

/// Lower case, upper case and digits.
fn varied(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_lowercase)
        && value.iter().any(u8::is_ascii_uppercase)
        && value.iter().any(u8::is_ascii_digit)
}

/// An expression may have the secret in it as a literal: a default, an argument.
fn literal_in(bytes: &[u8], code: Value, promise: Promise) -> Option<(usize, usize, RuleId)> {
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
