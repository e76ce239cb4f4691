//! Tells a value that is meant literally from an expression that computes it.

use super::class;
use super::place::{Place, Value};

/// Types longer than this are not looked behind.
const TYPE_BYTES_MAX: usize = 60;
const LINE_BYTES_MAX: usize = 200;

/// A value without quotes and without a place that says what it is: look at it and around it.
pub(super) fn judge(bytes: &[u8], name_start: usize, value: Value) -> Value {
    let line_end = line_end(bytes, value.end);
    if is_expression(value.of(bytes), bytes[value.end..line_end].trim_ascii()) {
        return Value {
            place: Place::Code,
            start: value.start,
            end: line_end,
        };
    }
    let after = bytes[whole(bytes, value).end..line_end].trim_ascii();
    let alone = after.is_empty() || after.starts_with(b"#") || after.starts_with(b"//");
    let place = if alone && begins_line(bytes, name_start) {
        Place::Line
    } else {
        value.place
    };
    Value { place, ..value }
}

/// A value without quotes up to where it really ends. A password may have a comma or a bracket in it:
/// what goes on behind one without a blank is taken along, what ends a sentence or a list not.
pub(super) fn whole(bytes: &[u8], value: Value) -> Value {
    let rest = &bytes[value.end..line_end(bytes, value.end)];
    let goes_on = |b: &&u8| !b.is_ascii_whitespace() && !b"\"'`<>([{\\&".contains(b);
    let more = rest.iter().take_while(goes_on).count();
    let trailing = rest[..more]
        .iter()
        .rev()
        .take_while(|b| b",;)}].:!?".contains(b))
        .count();
    Value {
        end: value.end + more - trailing,
        ..value
    }
}

/// `TOKEN=make_token()` is no line of an environment.
pub(super) fn unless_called(bytes: &[u8], value: Value) -> Value {
    let text = value.of(bytes);
    let name = class::run(text, class::WORD | class::DOTTED, usize::MAX);
    if name > 0 && matches!(text.get(name), Some(b'(' | b'[')) {
        return Value {
            place: Place::Code,
            end: line_end(bytes, value.end),
            ..value
        };
    }
    value
}

/// `: &'static str = "…"` — where the value begins if a type stands at `at`.
pub(super) fn behind_type(bytes: &[u8], at: usize) -> Option<usize> {
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
        || matches!(
            after.first(),
            Some(b'+' | b'?' | b'(' | b'[' | b'=' | b'&' | b'{' | b'\\')
        )
        || after.starts_with(b">")
        || after.starts_with(b"||")
        || KEYWORDS.contains(&value)
}

/// `$self->x`, `$_POST['x']`
fn is_variable(value: &[u8]) -> bool {
    let name = value
        .get(1..)
        .map_or(0, |rest| class::run(rest, class::WORD, usize::MAX));
    value[0] == b'$' && name > 0 && matches!(value.get(name + 1), None | Some(b'-' | b'.' | b'['))
}

/// Nothing before the name on its line but indentation, marks of lists, patches and comments,
/// and the numbers that tools print before lines.
fn begins_line(bytes: &[u8], name_start: usize) -> bool {
    let from = name_start.saturating_sub(LINE_BYTES_MAX);
    let line = bytes[from..name_start]
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(from, |i| from + i + 1);
    let before = bytes[line..name_start].trim_ascii();
    let marks = before.iter().all(|b| !b.is_ascii_alphabetic());
    let numbered = before.ends_with(b":") && before.split(|b| *b == b':').count() > 2;
    let keyword = [
        b"export".as_slice(),
        b"set",
        b"ENV",
        b"ARG",
        b"env:",
        b"- export",
    ];
    marks || numbered || keyword.contains(&before)
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    let limit = bytes.len().min(from + LINE_BYTES_MAX);
    bytes[from..limit]
        .iter()
        .position(|b| *b == b'\n')
        .map_or(limit, |i| from + i)
}
