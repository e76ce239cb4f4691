//! A value that is assigned to a name: its extent and its context ([`AssignedValue`]).

use super::class;
use super::literal::{self, QuoteMark, VALUE_BYTES_MAX};

/// The syntax around a value, which tells how literally it is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueContext {
    /// An environment line: `NAME=value`.
    Environment,
    /// A query or connection string, `?name=value&`, `;name=value;`: always literal.
    Query,
    /// In quotes, or between XML tags.
    Quoted,
    /// Alone on its line after its name, as in a configuration file.
    ConfigLine,
    /// After an operator anywhere else: prose, arguments, code.
    Unquoted,
    /// After its name with only a blank between.
    Juxtaposed,
    /// An expression: computed, but possibly containing literals.
    Expression,
}

/// A value at `bytes[start..end]`, without quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AssignedValue {
    pub place: ValueContext,
    pub start: usize,
    pub end: usize,
}

impl AssignedValue {
    /// The value's bytes.
    pub(super) fn slice(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start..self.end]
    }
}

/// Maximum blanks between a name and its value.
pub(super) const BLANKS_MAX: usize = 40;

/// The value inside the quotes.
pub(super) fn quoted(bytes: &[u8], open: QuoteMark, place: ValueContext) -> AssignedValue {
    AssignedValue { place, start: open.end, end: literal::literal_end(bytes, open) }
}

/// HTML escapes, after the `&`, that end a value.
const ESCAPED: [&[u8]; 4] = [b"quot;", b"lt;", b"gt;", b"#"];

/// An unquoted value: up to whitespace or whatever ends a value in this context.
pub(super) fn unquoted(bytes: &[u8], start: usize, place: ValueContext) -> AssignedValue {
    let ends = |b: u8| match place {
        ValueContext::Query => !class::has(class::PATH, b) || matches!(b, b'&' | b'#' | b';' | b'{' | b'}'),
        ValueContext::Environment => b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`'),
        _ => b.is_ascii_whitespace() || b"\"'`,;)}]<>\\".contains(&b),
    };
    let escape = |i: usize| match &bytes[i..] {
        [b'\\', b'n' | b'r' | b't' | b'"', ..] => true,
        [b'&', rest @ ..] => ESCAPED.iter().any(|escaped| rest.starts_with(escaped)),
        _ => false,
    };
    let limit = bytes.len().min(start + VALUE_BYTES_MAX);
    let length = (start..limit).take_while(|&i| !ends(bytes[i]) && !escape(i)).count();
    let value = bytes.get(start..start + length).unwrap_or_default();
    let trailing = value.iter().rev().take_while(|b| matches!(b, b',' | b';' | b')')).count();
    AssignedValue { place, start, end: start + length - trailing }
}

/// The number of blanks at `at`.
pub(super) fn blanks(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take(BLANKS_MAX).take_while(|b| matches!(b, b' ' | b'\t')).count()
}
