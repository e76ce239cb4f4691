//! Where a value stands after its name, and how far it reaches.

use super::class;
use super::code;
use super::joint;
use super::literal::{self, Quote, VALUE_BYTES_MAX, opening, quote};

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
    /// Behind an operator, anywhere else: prose, arguments, code.
    Loose,
    /// Behind its name with nothing but a blank between.
    Bare,
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
    if let Some(value) = joint::follow_on(bytes, here) {
        return Some(value);
    }
    let spaces = blanks(bytes, here);
    here += spaces;
    match joint::operator(bytes, here, quoted_name.is_some()) {
        Some((sign, after)) => {
            let tight = spaces == 0 && sign == b'=' && after == here + 1;
            assigned(bytes, start..end, Operator { sign, tight, after })
        }
        None => joint::argument(bytes, start, end, spaces),
    }
}

/// The sign between a name and its value.
#[derive(Clone, Copy)]
struct Operator {
    sign: u8,
    /// Directly behind the name, and no part of a longer sign.
    tight: bool,
    /// Where it ends.
    after: usize,
}

fn assigned(bytes: &[u8], name: std::ops::Range<usize>, operator: Operator) -> Option<Value> {
    let Operator { sign, tight, after } = operator;
    let here = value_start(bytes, after, sign)?;
    let environment = is_environment_name(&bytes[name.clone()]);
    if let Some(open) = opening(bytes, here) {
        let place = match sign {
            // A shell runs what stands there.
            b'=' if tight && bytes[open.start] == b'`' => Place::Code,
            b'=' if tight && environment => Place::Environment,
            b',' if !environment || !is_first_argument(bytes, name.start) => Place::Loose,
            _ => Place::Quoted,
        };
        return Some(quoted(bytes, open, place));
    }
    if sign == b',' {
        return None;
    }
    if tight && here == after {
        if let Some(place) = joint::parameter(bytes, name.start, here) {
            return Some(Value {
                place,
                ..unquoted(bytes, here, Place::Query)
            });
        }
        if environment {
            let value = unquoted(bytes, here, Place::Environment);
            return Some(code::unless_called(bytes, value));
        }
    }
    Some(code::judge(
        bytes,
        name.start,
        unquoted(bytes, here, Place::Loose),
    ))
}

/// Whether a value may follow a name that ends at `end`: a quick look that spares a thorough one.
pub(super) fn may_follow(bytes: &[u8], end: usize) -> bool {
    let next = bytes.get(end + blanks(bytes, end));
    !matches!(
        next,
        None | Some(b'(' | b')' | b';' | b'.' | b'/' | b'}' | b'*' | b'<' | b'~')
    )
}

/// The next quoted string that begins in `bytes[from..until]`.
pub(super) fn next_literal(bytes: &[u8], from: usize, until: usize) -> Option<Value> {
    let at = (from..until).find(|&i| matches!(bytes[i], b'"' | b'\'' | b'`'))?;
    Some(quoted(bytes, quote(bytes, at)?, Place::Quoted))
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
    let length = bytes[start..limit].iter().position(|b| *b == b'<')?;
    Some(Value {
        place: Place::Quoted,
        start,
        end: start + length,
    })
}

/// `("NAME", …`
fn is_first_argument(bytes: &[u8], start: usize) -> bool {
    bytes[..start].iter().rev().nth(1) == Some(&b'(')
}

fn is_environment_name(name: &[u8]) -> bool {
    let of_name = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_';
    name.len() >= 3 && name.iter().all(of_name)
}

pub(super) fn quoted(bytes: &[u8], open: Quote, place: Place) -> Value {
    Value {
        place,
        start: open.end,
        end: literal::end(bytes, open),
    }
}

/// What ends a value in HTML, behind the `&`.
const ESCAPED: [&[u8]; 4] = [b"quot;", b"lt;", b"gt;", b"#"];

/// Up to a blank, or what ends a value in its place.
pub(super) fn unquoted(bytes: &[u8], start: usize, place: Place) -> Value {
    let ends = |b: u8| match place {
        Place::Query => {
            !class::has(class::PATH, b) || matches!(b, b'&' | b'#' | b';' | b'{' | b'}')
        }
        Place::Environment => b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`'),
        _ => b.is_ascii_whitespace() || b"\"'`,;)}]<>\\".contains(&b),
    };
    let escape = |i: usize| match &bytes[i..] {
        [b'\\', b'n' | b'r' | b't' | b'"', ..] => true,
        [b'&', rest @ ..] => ESCAPED.iter().any(|escaped| rest.starts_with(escaped)),
        _ => false,
    };
    let limit = bytes.len().min(start + VALUE_BYTES_MAX);
    let length = (start..limit)
        .take_while(|&i| !ends(bytes[i]) && !escape(i))
        .count();
    let value = bytes.get(start..start + length).unwrap_or_default();
    let trailing = value
        .iter()
        .rev()
        .take_while(|b| matches!(b, b',' | b';' | b')'))
        .count();
    Value {
        place,
        start,
        end: start + length - trailing,
    }
}

pub(super) fn blanks(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter()
        .take(BLANKS_MAX)
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count()
}
