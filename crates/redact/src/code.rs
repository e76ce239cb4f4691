//! Distinguishes literal values from expressions.

use super::assigned_value::{AssignedValue, ValueContext};
use super::class;

/// Maximum length of a type annotation.
const TYPE_BYTES_MAX: usize = 60;
const LINE_BYTES_MAX: usize = 200;

/// Classifies an unquoted value by its form and its line.
pub(super) fn classify(bytes: &[u8], name_start: usize, value: AssignedValue) -> AssignedValue {
    let line_end = line_end(bytes, value.end);
    if is_expression(value.slice(bytes), bytes[value.end..line_end].trim_ascii()) {
        return AssignedValue { place: ValueContext::Expression, start: value.start, end: line_end };
    }
    let after = bytes[extend_value(bytes, value).end..line_end].trim_ascii();
    let alone = after.is_empty() || after.starts_with(b"#") || after.starts_with(b"//");
    let place = if alone && begins_line(bytes, name_start) { ValueContext::ConfigLine } else { value.place };
    AssignedValue { place, ..value }
}

/// Extends an unquoted value to its real end. A password may contain a comma or bracket: text that
/// continues without a blank belongs to it, punctuation that ends a sentence or list does not.
pub(super) fn extend_value(bytes: &[u8], value: AssignedValue) -> AssignedValue {
    let rest = &bytes[value.end..line_end(bytes, value.end)];
    let goes_on = |b: &&u8| !b.is_ascii_whitespace() && !b"\"'`<>([{\\&".contains(b);
    let more = rest.iter().take_while(goes_on).count();
    let trailing = rest[..more].iter().rev().take_while(|b| b",;)}].:!?".contains(b)).count();
    AssignedValue { end: value.end + more - trailing, ..value }
}

/// Turns `TOKEN=make_token()` from an environment line into an expression.
pub(super) fn unless_called(bytes: &[u8], value: AssignedValue) -> AssignedValue {
    let text = value.slice(bytes);
    let name = class::run(text, class::WORD | class::DOTTED, usize::MAX);
    if name > 0 && matches!(text.get(name), Some(b'(' | b'[')) {
        return AssignedValue { place: ValueContext::Expression, end: line_end(bytes, value.end), ..value };
    }
    value
}

/// Where the value starts after a type annotation at `at`: `: &'static str = "…"`.
pub(super) fn after_type(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let rest = &rest[..rest.len().min(TYPE_BYTES_MAX)];
    let of_type = |b: &u8| class::has(class::WORD, *b) || b"<>&'[]|., ?:*".contains(b);
    let length = rest.iter().take_while(|b| of_type(b)).count();
    let assigns = rest.get(length) == Some(&b'=')
        && !matches!(rest.get(length + 1), Some(b'=' | b'>'))
        && rest.get(length.wrapping_sub(1)) == Some(&b' ');
    (assigns && length > 1).then_some(at + length + 1)
}

fn is_expression(value: &[u8], after: &[u8]) -> bool {
    const KEYWORDS: [&[u8]; 12] = [
        b"await",
        b"new",
        b"self",
        b"this",
        b"if",
        b"match",
        b"function",
        b"async",
        b"lambda",
        b"typeof",
        b"not",
        b"return",
    ];
    let Some(&first) = value.first() else {
        return true;
    };
    matches!(first, b'&' | b'*' | b'!' | b'(' | b'[' | b'{' | b'|' | b'@')
        || is_variable(value)
        || value.iter().any(|b| matches!(b, b'(' | b'[' | b'{'))
        || value.windows(2).any(|w| w == b"::" || w == b"->")
        || matches!(after.first(), Some(b'+' | b'?' | b'(' | b'[' | b'=' | b'&' | b'{' | b'\\'))
        || after.starts_with(b">")
        || after.starts_with(b"||")
        || KEYWORDS.contains(&value)
}

/// Whether this is a variable: `$self->x`, `$_POST['x']`.
fn is_variable(value: &[u8]) -> bool {
    let name = value.get(1..).map_or(0, |rest| class::run(rest, class::WORD, usize::MAX));
    value[0] == b'$' && name > 0 && matches!(value.get(name + 1), None | Some(b'-' | b'.' | b'['))
}

/// Whether the name starts its line, apart from indentation, list, patch and comment markers, and
/// line numbers that tools print.
fn begins_line(bytes: &[u8], name_start: usize) -> bool {
    let from = name_start.saturating_sub(LINE_BYTES_MAX);
    let line = bytes[from..name_start].iter().rposition(|b| *b == b'\n').map_or(from, |i| from + i + 1);
    let before = bytes[line..name_start].trim_ascii();
    let marks = before.iter().all(|b| !b.is_ascii_alphabetic());
    let numbered = before.ends_with(b":") && before.split(|b| *b == b':').count() > 2;
    let keyword = [b"export".as_slice(), b"set", b"ENV", b"ARG", b"env:", b"- export"];
    marks || numbered || keyword.contains(&before)
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    let limit = bytes.len().min(from + LINE_BYTES_MAX);
    bytes[from..limit].iter().position(|b| *b == b'\n').map_or(limit, |i| from + i)
}
