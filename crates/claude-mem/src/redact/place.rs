//! Where a value stands after its name, and how far it reaches.

use super::class;
use super::code;
use super::literal::{self, VALUE_BYTES_MAX, opening, quote};

/// What surrounds a value, and so how literally it is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// `NAME=value`
    Environment,
    /// `?name=value&`, `;name=value;`: nothing is computed here.
    Query,
    /// In quotes, or between XML tags.
    Quoted,
    /// Alone on its line behind its name: a configuration file.
    Line,
    /// Anywhere else: prose, arguments, code.
    Loose,
    /// An expression: the value is computed, but may have literals in it.
    Code,
}

/// `bytes[start..end]`, without quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub place: Place,
    pub start: usize,
    pub end: usize,
}

impl Value {
    pub(super) fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start..self.end]
    }
}

const BLANKS_MAX: usize = 40;

/// The value that is assigned to the name `bytes[start..end]`.
pub(super) fn value(bytes: &[u8], start: usize, end: usize) -> Option<Value> {
    let quoted_name = quote(bytes, end);
    let mut here = quoted_name.map_or(end, |quote| quote.end);
    if bytes.get(here) == Some(&b'>') && start > 0 && bytes[start - 1] == b'<' {
        return element(bytes, here + 1);
    }
    here += usize::from(bytes.get(here) == Some(&b']'));
    if let Some(value) = follow_on(bytes, here) {
        return Some(value);
    }
    let spaces = blanks(bytes, here);
    here += spaces;
    let Some(operator) = operator(bytes, here, quoted_name.is_some()) else {
        return argument(bytes, start, end, spaces);
    };
    let sign = bytes[here];
    here += operator;
    let tight = operator == 1 && sign == b'=' && spaces == 0;
    let after = value_start(bytes, here, sign)?;
    let name = &bytes[start..end];
    let environment = is_environment_name(name);
    if let Some(open) = opening(bytes, after) {
        let computed = bytes[open.start] == b'`' && tight;
        let place = match sign {
            _ if computed => Place::Code,
            b'=' if tight && environment => Place::Environment,
            b',' if !environment || !is_first_argument(bytes, start) => Place::Loose,
            _ => Place::Quoted,
        };
        return Some(Value {
            place,
            start: open.end,
            end: literal::end(bytes, open),
        });
    }
    if tight && after == here {
        if let Some(place) = parameter(bytes, start, here) {
            return Some(Value {
                place,
                ..unquoted(bytes, here, Place::Query)
            });
        }
        if environment {
            return Some(code::unless_called(
                bytes,
                unquoted(bytes, here, Place::Environment),
            ));
        }
    }
    if sign == b',' {
        return None;
    }
    Some(code::judge(
        bytes,
        start,
        unquoted(bytes, after, Place::Loose),
    ))
}

/// The next quoted string that begins in `bytes[from..until]`.
pub(super) fn next_literal(bytes: &[u8], from: usize, until: usize) -> Option<Value> {
    let at = (from..until).find(|&i| matches!(bytes[i], b'"' | b'\'' | b'`'))?;
    let open = quote(bytes, at)?;
    Some(Value {
        place: Place::Quoted,
        start: open.end,
        end: literal::end(bytes, open),
    })
}

/// Where the value begins after an operator that ends at `at`: behind blanks, on the next line
/// if a formatter or YAML put it there, behind the type if there is one.
fn value_start(bytes: &[u8], at: usize, sign: u8) -> Option<usize> {
    let here = at + blanks(bytes, at);
    if sign == b':'
        && let Some(behind) = code::behind_type(bytes, here)
    {
        return Some(behind + blanks(bytes, behind));
    }
    let line = &bytes[here.min(bytes.len())..];
    let block = line
        .iter()
        .take(2)
        .take_while(|b| matches!(b, b'|' | b'>' | b'-'))
        .count();
    let next = here + block + usize::from(line.get(block) == Some(&b'\r'));
    if bytes.get(next) != Some(&b'\n') {
        return Some(here);
    }
    let next = next + 1;
    let indented = next + blanks(bytes, next);
    (indented > next && (block > 0 || opening(bytes, indented).is_some())).then_some(indented)
}

/// `<name>value</…`
fn element(bytes: &[u8], start: usize) -> Option<Value> {
    let limit = bytes.len().min(start + VALUE_BYTES_MAX);
    let end = start + bytes[start..limit].iter().position(|b| *b == b'<')?;
    Some(Value {
        place: Place::Quoted,
        start,
        end,
    })
}

/// How long the operator at `at` is, if one is there.
fn operator(bytes: &[u8], at: usize, quoted_name: bool) -> Option<usize> {
    let rest = &bytes[at.min(bytes.len())..];
    match rest {
        [b':', b':', ..] | [b'=', b'~', ..] => None,
        [b'=' | b'!', b'=', b'=', ..]
        | [b'?', b'?', b'=', ..]
        | [b'|', b'|', b'=', ..]
        | [b'%', b'3', b'D', ..] => Some(3),
        [b':' | b'=' | b'!' | b'+' | b'?', b'=', ..]
        | [b'=', b'>', ..]
        | [b'i', b's', b' ', _, ..] => Some(2),
        [b'=' | b':', ..] => Some(1),
        [b',', ..] if quoted_name => Some(1),
        _ => None,
    }
}

/// `name: DB_PASSWORD`, then `value: …`: how containers and old configuration files are told.
fn follow_on(bytes: &[u8], at: usize) -> Option<Value> {
    let rest = &bytes[at.min(bytes.len())..];
    let joint = |b: &&u8| {
        matches!(
            **b,
            b' ' | b'\t' | b'\r' | b'\n' | b',' | b'"' | b'\'' | b'\\'
        )
    };
    let skipped = rest.iter().take(BLANKS_MAX).take_while(joint).count();
    let word = rest.get(skipped..skipped + 5)?;
    if skipped == 0 || !word.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let mut here = at + skipped + 5;
    here = quote(bytes, here).map_or(here, |quote| quote.end);
    here += blanks(bytes, here);
    if !matches!(bytes.get(here), Some(b':' | b'=')) {
        return None;
    }
    here += 1;
    here += blanks(bytes, here);
    Some(match opening(bytes, here) {
        Some(open) => Value {
            place: Place::Quoted,
            start: open.end,
            end: literal::end(bytes, open),
        },
        None => unquoted(bytes, here, Place::Line),
    })
}

/// A value behind a blank alone: `--password value`, `login me password value`, and SQL's
/// `PASSWORD 'value'`.
fn argument(bytes: &[u8], start: usize, end: usize, spaces: usize) -> Option<Value> {
    let here = end + spaces;
    if spaces == 0 || matches!(bytes.get(here), None | Some(b'-' | b'\n' | b'\r')) {
        return None;
    }
    if let Some(open) = opening(bytes, here) {
        let place = if bytes[start] == b'-' {
            Place::Quoted
        } else {
            Place::Loose
        };
        return Some(Value {
            place,
            start: open.end,
            end: literal::end(bytes, open),
        });
    }
    let option = bytes[start] == b'-';
    let login = bytes[start.saturating_sub(80)..start]
        .windows(6)
        .any(|w| w == b"login ");
    (option || login).then(|| unquoted(bytes, here, Place::Loose))
}

/// `("NAME", …`
fn is_first_argument(bytes: &[u8], start: usize) -> bool {
    bytes[..start].iter().rev().nth(1) == Some(&b'(')
}

/// Whether `name=` at `start` is a part of a query or of a connection string, or alone in
/// quotes, and not code.
fn parameter(bytes: &[u8], start: usize, value: usize) -> Option<Place> {
    let before = bytes[..start].last();
    if matches!(before, Some(b'?' | b'&' | b';' | b'#')) {
        return Some(Place::Query);
    }
    match bytes.get(unquoted(bytes, value, Place::Query).end) {
        Some(b'&') => Some(Place::Query),
        Some(b'"' | b'\'') if matches!(before, Some(b'"' | b'\'')) => Some(Place::Quoted),
        _ => None,
    }
}

pub(super) fn is_environment_name(name: &[u8]) -> bool {
    name.len() >= 3
        && name
            .iter()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
}

/// Up to a blank, or what ends a value in its place.
fn unquoted(bytes: &[u8], start: usize, place: Place) -> Value {
    let escape =
        |i: usize| bytes[i] == b'\\' && matches!(bytes.get(i + 1), Some(b'n' | b'r' | b't' | b'"'));
    let ends = |b: u8| match place {
        Place::Query => {
            !class::has(class::PATH, b) || matches!(b, b'&' | b'#' | b';' | b'{' | b'}')
        }
        Place::Environment => b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`'),
        _ => b.is_ascii_whitespace() || b"\"'`,;)}]<>\\".contains(&b),
    };
    let limit = bytes.len().min(start + VALUE_BYTES_MAX);
    let value = &bytes[start.min(limit)..limit];
    let length = (start..limit)
        .take_while(|&i| !ends(bytes[i]) && !escape(i))
        .count();
    let value = &value[..length];
    let trailing = value
        .iter()
        .rev()
        .take_while(|b| matches!(b, b',' | b';' | b')'))
        .count();
    Value {
        place,
        start,
        end: start + value.len() - trailing,
    }
}

pub(super) fn blanks(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at.min(bytes.len())..];
    rest.iter()
        .take(BLANKS_MAX)
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count()
}
