//! Finds the value assigned to a name.

use super::assigned_value::{AssignedValue, ValueContext, blanks, quoted, unquoted};
use super::class;
use super::code;
use super::joint;
use super::literal::{VALUE_BYTES_MAX, opening_quote_at, quote_at};

/// Maximum length of the attributes of an XML element.
const TAG_BYTES_MAX: usize = 120;

/// The value assigned to the name at `bytes[start..end]`.
pub(super) fn find_value(bytes: &[u8], start: usize, end: usize) -> Option<AssignedValue> {
    let quoted_name = quote_at(bytes, end);
    let mut here = quoted_name.map_or(end, |quote| quote.end);
    if bytes.get(here) == Some(&b'>') && opens_tag(bytes, start) {
        return element(bytes, here + 1);
    }
    if bytes.get(here) == Some(&b' ') && opens_tag(bytes, start) {
        let tag = &bytes[here..bytes.len().min(here + TAG_BYTES_MAX)];
        let close = tag.iter().position(|b| matches!(b, b'>' | b'\n')).filter(|end| tag[*end] == b'>')?;
        return element(bytes, here + close + 1);
    }
    here += usize::from(bytes.get(here) == Some(&b']'));
    if let Some(value) = joint::follow_on(bytes, here) {
        return Some(value);
    }
    here += list_number(&bytes[here..]);
    let spaces = blanks(bytes, here);
    here += spaces;
    match joint::operator(bytes, here, quoted_name.is_some()) {
        Some((sign, after)) => {
            let tight = spaces == 0 && sign == b'=' && after == here + 1;
            assigned(bytes, start..end, AssignmentOperator { sign, tight, after })
        }
        None => joint::declared(bytes, end, spaces).or_else(|| joint::argument(bytes, start, end, spaces)),
    }
}

/// The length of the number between a name and its colon: `Unseal Key 1: …`.
fn list_number(rest: &[u8]) -> usize {
    let digits = rest.get(1..).map_or(0, |rest| class::run(rest, class::DIGIT, 2));
    let numbered = digits > 0 && rest[0] == b' ' && rest.get(1 + digits) == Some(&b':');
    if numbered { 1 + digits } else { 0 }
}

/// Whether the name at `start` is that of an element, with or without a namespace.
fn opens_tag(bytes: &[u8], start: usize) -> bool {
    let before = &bytes[..start];
    let space =
        before.strip_suffix(b":").map(|rest| &rest[..rest.len() - class::run_back(rest, class::WORD, 24)]);
    space.unwrap_or(before).last() == Some(&b'<')
}

/// The operator between a name and its value.
#[derive(Clone, Copy)]
struct AssignmentOperator {
    sign: u8,
    /// A single `=` directly after the name.
    tight: bool,
    /// Where the operator ends.
    after: usize,
}

fn assigned(
    bytes: &[u8],
    name: std::ops::Range<usize>,
    operator: AssignmentOperator,
) -> Option<AssignedValue> {
    let AssignmentOperator { sign, tight, after } = operator;
    let here = value_start(bytes, after, sign)?;
    let environment = is_environment_name(&bytes[name.clone()]);
    if let Some(open) = opening_quote_at(bytes, here) {
        let place = match sign {
            // In a shell, backquotes run a command.
            b'=' if tight && bytes[open.start] == b'`' => ValueContext::Expression,
            b'=' if tight && environment => ValueContext::Environment,
            b',' if !environment || !is_first_argument(bytes, name.start) => ValueContext::Unquoted,
            _ => ValueContext::Quoted,
        };
        return Some(quoted(bytes, open, place));
    }
    if sign == b',' {
        return None;
    }
    if tight && here == after {
        if let Some(place) = joint::parameter(bytes, name.start, here) {
            return Some(AssignedValue { place, ..unquoted(bytes, here, ValueContext::Query) });
        }
        if environment {
            let value = unquoted(bytes, here, ValueContext::Environment);
            return Some(code::unless_called(bytes, value));
        }
    }
    Some(code::classify(bytes, name.start, unquoted(bytes, here, ValueContext::Unquoted)))
}

/// Whether a value may follow a name that ends at `end`; a quick check before the full one.
pub(super) fn may_follow(bytes: &[u8], end: usize) -> bool {
    let next = bytes.get(end + blanks(bytes, end));
    !matches!(next, None | Some(b'(' | b')' | b';' | b'.' | b'/' | b'}' | b'*' | b'<' | b'~'))
}

/// The next quoted string that starts in `bytes[from..until]`.
pub(super) fn next_literal(bytes: &[u8], from: usize, until: usize) -> Option<AssignedValue> {
    let at = (from..until).find(|&i| matches!(bytes[i], b'"' | b'\'' | b'`'))?;
    Some(quoted(bytes, quote_at(bytes, at)?, ValueContext::Quoted))
}

/// The length of an anchor of YAML before a value: `password: &name …`.
fn anchor_bytes(rest: &[u8], sign: u8) -> usize {
    let name = rest.strip_prefix(b"&").map_or(0, |rest| class::run(rest, class::WORD, 32));
    // `TOKEN: &str = "…"` is a type.
    let value = rest.get(name + 1) == Some(&b' ') && !rest[name + 1..].trim_ascii_start().starts_with(b"=");
    if sign == b':' && name > 0 && value { name + 2 } else { 0 }
}

/// Where the value starts after an operator that ends at `at`: after blanks, after a type
/// annotation, or on the next line if a formatter or YAML put it there.
fn value_start(bytes: &[u8], at: usize, sign: u8) -> Option<usize> {
    let here = at + blanks(bytes, at);
    let here = here + anchor_bytes(&bytes[here.min(bytes.len())..], sign);
    if sign == b':'
        && let Some(behind) = code::after_type(bytes, here)
    {
        return Some(behind + blanks(bytes, behind));
    }
    let line = &bytes[here.min(bytes.len())..];
    let block = line.iter().take(2).take_while(|b| matches!(b, b'|' | b'>' | b'-')).count();
    let next = here + block + usize::from(line.get(block) == Some(&b'\r'));
    if bytes.get(next) != Some(&b'\n') {
        return Some(here);
    }
    let next = next + 1;
    let indented = next + blanks(bytes, next);
    let quoted = || opening_quote_at(bytes, indented).is_some();
    (indented > next && (block > 0 || quoted() || sign == b':' && is_lone_value(bytes, indented)))
        .then_some(indented)
}

/// Whether the line at `start` holds one word that no key is: letters and digits mixed, no colon.
fn is_lone_value(bytes: &[u8], start: usize) -> bool {
    let line = &bytes[start..bytes.len().min(start + 200)];
    let line = line.split(|b| *b == b'\n').next().unwrap_or_default().trim_ascii();
    let of_value = |b: &u8| b.is_ascii_graphic() && !b":{}[]()<>\"'`".contains(b);
    line.len() >= 8 && line.iter().all(of_value) && line.iter().any(u8::is_ascii_digit) && line[0] != b'-'
}

/// The value of an XML element: `<name>value</…`.
fn element(bytes: &[u8], start: usize) -> Option<AssignedValue> {
    let limit = bytes.len().min(start + VALUE_BYTES_MAX);
    let length = bytes[start..limit].iter().position(|b| *b == b'<').unwrap_or(limit - start);
    // `<user>:<password>@host` is no element.
    let address = bytes.get(start) == Some(&b'@');
    (!address).then_some(AssignedValue { place: ValueContext::Quoted, start, end: start + length })
}

/// Whether the name is a first argument: `("NAME", …`.
fn is_first_argument(bytes: &[u8], start: usize) -> bool {
    bytes[..start].iter().rev().nth(1) == Some(&b'(')
}

fn is_environment_name(name: &[u8]) -> bool {
    let of_name = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_';
    name.len() >= 3 && name.iter().all(of_name)
}
