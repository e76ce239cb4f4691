//! Where a value stands after its name, and how far it reaches.

use super::class;

/// What surrounds a value, and so how literally it is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// `NAME=value`
    Environment,
    /// `?name=value&`
    Query,
    /// In quotes, or between XML tags.
    Quoted,
    /// Alone on its line behind its name: a configuration file.
    Line,
    /// Anywhere else: prose, arguments of a command, code.
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

/// Values longer than this are texts.
const VALUE_BYTES_MAX: usize = 1024;
const BLANKS_MAX: usize = 40;

/// The value that is assigned to the name `bytes[start..end]`.
pub(super) fn value(bytes: &[u8], start: usize, end: usize) -> Option<Value> {
    let quoted_name = quote(bytes, end);
    let mut here = quoted_name.map_or(end, |quote| quote.end);
    if bytes.get(here) == Some(&b'>') && start > 0 && bytes[start - 1] == b'<' {
        return element(bytes, here + 1);
    }
    here += usize::from(bytes.get(here) == Some(&b']'));
    let blanks = blanks(bytes, here);
    here += blanks;
    let Some(operator) = operator(bytes, here, quoted_name.is_some()) else {
        return follow_on(bytes, here).or_else(|| option(bytes, start, end, blanks));
    };
    let spaced = blanks > 0;
    here += operator;
    let gap = gap(bytes, here);
    here += gap;
    if let Some(quote) = quote(bytes, skip_prefix(bytes, here)) {
        return Some(quoted(bytes, quote));
    }
    if bytes[..here].ends_with(b"\n") || gap > blanks_within_line(bytes, here - gap) {
        return None;
    }
    let name = &bytes[start..end];
    let tight = operator == 1 && bytes[here - 1] == b'=' && !spaced;
    if tight && start > 0 && matches!(bytes[start - 1], b'?' | b'&' | b';') {
        return Some(unquoted(bytes, here, Place::Query));
    }
    if tight && is_environment_name(name) {
        return Some(unquoted(bytes, here, Place::Environment));
    }
    Some(loose(bytes, start, here))
}

/// The next quoted string that begins in `bytes[from..until]`.
pub(super) fn next_literal(bytes: &[u8], from: usize, until: usize) -> Option<Value> {
    let at = (from..until).find(|&i| matches!(bytes[i], b'"' | b'\'' | b'`'))?;
    let quote = quote(bytes, at)?;
    Some(quoted(bytes, quote))
}

/// A quotation mark with the backslashes before it: `"`, `\"`, `\\\"`, `&quot;`.
#[derive(Clone, Copy)]
struct Quote {
    start: usize,
    end: usize,
}

fn quote(bytes: &[u8], at: usize) -> Option<Quote> {
    let rest = bytes.get(at..)?;
    if rest.starts_with(b"&quot;") {
        return Some(Quote {
            start: at,
            end: at + 6,
        });
    }
    let slashes = rest.iter().take(8).take_while(|b| **b == b'\\').count();
    matches!(rest.get(slashes), Some(b'"' | b'\'' | b'`')).then_some(Quote {
        start: at,
        end: at + slashes + 1,
    })
}

/// From an opening quotation mark to the same mark, the end of the line, or the end.
fn quoted(bytes: &[u8], open: Quote) -> Value {
    let mark = &bytes[open.start..open.end];
    let plain = mark.len() == 1;
    let start = open.end;
    let limit = bytes.len().min(start + VALUE_BYTES_MAX);
    let mut end = start;
    while end < limit {
        let rest = &bytes[end..];
        if rest.starts_with(mark) || (rest[0] == b'\n' && mark != b"`") {
            break;
        }
        // An escaped mark does not end the value.
        end += if plain && rest[0] == b'\\' { 2 } else { 1 };
    }
    Value {
        place: Place::Quoted,
        start,
        end: end.min(limit),
    }
}

/// `r"…"`, `b'…'`, `f"…"`, `@"…"`: letters that belong to the quotation mark.
fn skip_prefix(bytes: &[u8], at: usize) -> usize {
    let prefix = bytes[at..]
        .iter()
        .take(2)
        .take_while(|b| {
            matches!(
                b,
                b'r' | b'b' | b'f' | b'u' | b'R' | b'B' | b'F' | b'L' | b'@' | b'$' | b'#'
            )
        })
        .count();
    if quote(bytes, at + prefix).is_some() {
        at + prefix
    } else {
        at
    }
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
    for operator in [
        b"===".as_slice(),
        b"!==",
        b"||=",
        b"??=",
        b":=",
        b"=>",
        b"==",
        b"!=",
        b"+=",
        b"?=",
        b"%3D",
        b"=",
    ] {
        if rest.starts_with(operator) {
            return Some(operator.len());
        }
    }
    match rest {
        [b':', b':', ..] => None,
        [b':', ..] => Some(1),
        [b',', ..] if quoted_name => Some(1),
        _ if rest.starts_with(b"is ") && rest.len() > 3 => Some(2),
        _ => None,
    }
}

/// `name: DB_PASSWORD`, then `value: …`: how containers are told their environment.
fn follow_on(bytes: &[u8], at: usize) -> Option<Value> {
    let rest = &bytes[at.min(bytes.len())..];
    let skipped = rest
        .iter()
        .take(BLANKS_MAX)
        .take_while(|b| {
            matches!(
                b,
                b' ' | b'\t' | b'\r' | b'\n' | b',' | b'"' | b'\'' | b'\\'
            )
        })
        .count();
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
    Some(match quote(bytes, here) {
        Some(quote) => quoted(bytes, quote),
        None => unquoted(bytes, here, Place::Line),
    })
}

/// `--password value`
fn option(bytes: &[u8], start: usize, end: usize, blanks: usize) -> Option<Value> {
    let dashes = bytes[start..end].iter().take_while(|b| **b == b'-').count();
    let here = end + blanks;
    if dashes == 0 || blanks == 0 || matches!(bytes.get(here), None | Some(b'-' | b'\n')) {
        return None;
    }
    Some(match quote(bytes, here) {
        Some(quote) => quoted(bytes, quote),
        None => unquoted(bytes, here, Place::Loose),
    })
}

fn is_environment_name(name: &[u8]) -> bool {
    name.len() >= 3
        && name
            .iter()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
}

/// Up to a blank, or what ends a value in its place.
fn unquoted(bytes: &[u8], start: usize, place: Place) -> Value {
    let ends = |b: u8| match place {
        Place::Query => {
            !class::has(class::PATH, b) || matches!(b, b'&' | b'#' | b';' | b'{' | b'}' | b'|')
        }
        Place::Environment => b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`'),
        _ => {
            b.is_ascii_whitespace()
                || matches!(
                    b,
                    b'"' | b'\'' | b'`' | b',' | b';' | b')' | b'}' | b']' | b'<' | b'>' | b'\\'
                )
        }
    };
    let limit = bytes.len().min(start + VALUE_BYTES_MAX);
    let length = bytes[start..limit]
        .iter()
        .take_while(|&&b| !ends(b))
        .count();
    Value {
        place,
        start,
        end: start + length,
    }
}

/// A value without quotes and without a place that says what it is: look at it and around it.
fn loose(bytes: &[u8], name_start: usize, start: usize) -> Value {
    let value = unquoted(bytes, start, Place::Loose);
    let line_end = line_end(bytes, start);
    let after = &bytes[value.end..line_end];
    if is_code(value.of(bytes), after) {
        return Value {
            place: Place::Code,
            start,
            end: line_end,
        };
    }
    let alone = after.iter().all(u8::is_ascii_whitespace) && begins_line(bytes, name_start);
    Value {
        place: if alone { Place::Line } else { Place::Loose },
        ..value
    }
}

fn is_code(value: &[u8], after: &[u8]) -> bool {
    let after = after.trim_ascii_start();
    value.is_empty()
        || matches!(value[0], b'&' | b'*' | b'!' | b'(' | b'[' | b'{' | b'|')
        || value.iter().any(|b| matches!(b, b'(' | b'['))
        || value.windows(2).any(|w| w == b"::" || w == b"->")
        || matches!(
            after.first(),
            Some(b'+' | b'?' | b'|' | b'(' | b'[' | b'=' | b'&' | b'{')
        )
        || matches!(
            value,
            b"await" | b"new" | b"self" | b"this" | b"if" | b"match" | b"function"
        )
}

/// Nothing but indentation and list marks before the name on its line.
fn begins_line(bytes: &[u8], name_start: usize) -> bool {
    let line = bytes[..name_start]
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |i| i + 1);
    let before = &bytes[line..name_start];
    let mark = |b: &u8| {
        matches!(
            b,
            b' ' | b'\t' | b'-' | b'+' | b'"' | b'\'' | b'#' | b'>' | b'\r'
        )
    };
    before.len() <= 80
        && (before.iter().all(mark)
            || before.trim_ascii() == b"export"
            || before.trim_ascii() == b"set")
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    let limit = bytes.len().min(from + 400);
    bytes[from..limit]
        .iter()
        .position(|b| *b == b'\n')
        .map_or(limit, |i| from + i)
}

fn blanks(bytes: &[u8], at: usize) -> usize {
    blanks_within_line(bytes, at)
}

fn blanks_within_line(bytes: &[u8], at: usize) -> usize {
    bytes[at.min(bytes.len())..]
        .iter()
        .take(BLANKS_MAX)
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count()
}

/// Blanks after an operator; a formatter may have put the value on the next line.
fn gap(bytes: &[u8], at: usize) -> usize {
    bytes[at.min(bytes.len())..]
        .iter()
        .take(BLANKS_MAX)
        .take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
        .count()
}
