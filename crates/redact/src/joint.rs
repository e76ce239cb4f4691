//! Recognises what joins a name and its value: an operator, a few words, or just a blank.

use super::assigned_value::{AssignedValue, BLANKS_MAX, ValueContext, blanks, quoted, unquoted};
use super::class;
use super::code;
use super::literal::{opening_quote_at, quote_at};
use super::neighbour;

/// Maximum length of words such as `for the admin account`.
const ABOUT_BYTES_MAX: usize = 40;

/// How far before the name of a password its user may stand.
const USER_BYTES_MAX: usize = 120;
/// Names of users in configuration files.
const USER_WORDS: [&[u8]; 5] = [b"user", b"username", b"login", b"account", b"remote_username"];
/// Maximum length of a type between a name and its value.
const TYPE_BYTES_MAX: usize = 16;

/// The operator at `at` or after a few words: its first byte, and where it ends.
pub(super) fn operator(bytes: &[u8], at: usize, quoted_name: bool) -> Option<(u8, usize)> {
    let rest = bytes.get(at..)?;
    let length = match rest {
        [b':', b':', ..] | [b'=', b'~', ..] => return None,
        [b'=' | b'!', b'=', b'=', ..]
        | [b'?', b'?', b'=', ..]
        | [b'|', b'|', b'=', ..]
        | [b'%', b'3', b'D', ..] => 3,
        [b':' | b'=' | b'!' | b'+' | b'?', b'=', ..] | [b'=', b'>', ..] | [b'-', b'>', b' ', ..] => 2,
        // `${NAME:?message}`
        [b':', b'?', ..] if !quoted_name => return None,
        [b'=' | b':', ..] => 1,
        [b',', ..] if quoted_name => 1,
        [b'f', b'o', b'r', b' ', ..] => {
            let near = &rest[..rest.len().min(ABOUT_BYTES_MAX)];
            let words = near.iter().take_while(|b| class::has(class::URL, **b) || **b == b' ');
            return operator(bytes, at + words.count(), false)
                .or_else(|| is_operator_within(bytes, at, near));
        }
        // A full-width colon.
        [0xEF, 0xBC, 0x9A, ..] => return Some((b':', at + 3)),
        _ => copula(rest)?,
    };
    Some((rest[0], at + length))
}

/// The length of a verb that says what the value is, in a few languages: `the password is …`.
fn copula(rest: &[u8]) -> Option<usize> {
    if !rest.first().is_some_and(|b| b"iwalehsjt".contains(b) || !b.is_ascii()) {
        return None;
    }
    let length = rest.iter().take(10).position(|b| *b == b' ')?;
    let verb = matches!(
        &rest[..length],
        b"is"
            | b"was"
            | b"are"
            | b"ist"
            | b"lautet"
            | b"lautete"
            | b"hei\xc3\x9ft"
            | b"es"
            | b"est"
            | b"sera"
            | b"\xc3\xa8"
            | b"\xc3\xa9"
            | b"jest"
            | b"to"
            | b"este"
            | b"je"
            | b"\xc3\xa4r"
    );
    (verb && rest.len() > length + 1).then_some(length)
}

/// The `is` in `for the database is …`.
fn is_operator_within(bytes: &[u8], at: usize, near: &[u8]) -> Option<(u8, usize)> {
    let found = near.windows(4).position(|w| w == b" is ")?;
    (at + found + 4 < bytes.len()).then_some((b'i', at + found + 3))
}

/// The value of a name-value pair, `name: DB_PASSWORD`, then `value: …`, as in container and legacy
/// configuration files.
pub(super) fn follow_on(bytes: &[u8], at: usize) -> Option<AssignedValue> {
    let rest = bytes.get(at..)?;
    let joint = |b: &&u8| b" \t\r\n,\"'\\".contains(b);
    let skipped = rest.iter().take(BLANKS_MAX).take_while(joint).count();
    // `token, value = …` is a list of variables.
    let apart = rest[..skipped].iter().any(|b| matches!(b, b'\n' | b'"' | b'\''));
    let quoted_name = at > 0 && matches!(bytes[at - 1], b'"' | b'\'');
    if skipped == 0 || !(apart || quoted_name) {
        return None;
    }
    let length = class::run(&rest[skipped..], class::WORD, 16);
    if !neighbour::is_value_name(&rest[skipped..skipped + length]) {
        return None;
    }
    let mut here = at + skipped + length;
    here = quote_at(bytes, here).map_or(here, |quote| quote.end);
    here += blanks(bytes, here);
    if !matches!(bytes.get(here), Some(b':' | b'=')) {
        return None;
    }
    here += 1;
    here += blanks(bytes, here);
    Some(match opening_quote_at(bytes, here) {
        Some(open) => quoted(bytes, open, ValueContext::Quoted),
        None => unquoted(bytes, here, ValueContext::ConfigLine),
    })
}

/// The string behind a type: `param adminPassword string = '…'`, `@password varchar(20) = '…'`.
pub(super) fn declared(bytes: &[u8], end: usize, spaces: usize) -> Option<AssignedValue> {
    let kind = end + spaces;
    let length = class::run(bytes.get(kind..)?, class::WORD, TYPE_BYTES_MAX);
    let mut here = kind + length;
    if bytes.get(here) == Some(&b'(') {
        here += bytes[here..].iter().take(8).position(|b| *b == b')')? + 1;
    }
    let gap = blanks(bytes, here);
    here += gap;
    if spaces != 1 || length == 0 || gap == 0 || !bytes[here..].starts_with(b"= ") {
        return None;
    }
    Some(quoted(bytes, opening_quote_at(bytes, here + 2)?, ValueContext::Quoted))
}

/// A value after a blank: `--password value`, `login me password value`, SQL's `PASSWORD 'value'`,
/// and `the token value` in a sentence.
pub(super) fn argument(bytes: &[u8], start: usize, end: usize, spaces: usize) -> Option<AssignedValue> {
    let here = end + spaces;
    // `--password \` and the value on the next line
    let here = match bytes.get(here..) {
        Some([b'\\', b'\n', ..]) => here + 2 + blanks(bytes, here + 2),
        _ => here,
    };
    if spaces == 0 || matches!(bytes.get(here), None | Some(b'-' | b'\n' | b'\r')) {
        return None;
    }
    let option = bytes[start] == b'-';
    if let Some(open) = opening_quote_at(bytes, here) {
        let named = option || follows_user(bytes, start);
        let place = if named { ValueContext::Quoted } else { ValueContext::Juxtaposed };
        return Some(quoted(bytes, open, place));
    }
    let before = &bytes[start.saturating_sub(80)..start];
    if option || before.windows(6).any(|w| w == b"login ") || follows_user(bytes, start) {
        return Some(unquoted(bytes, here, ValueContext::Unquoted));
    }
    let value = code::classify(bytes, start, unquoted(bytes, here, ValueContext::Unquoted));
    let place = if value.place == ValueContext::Expression {
        ValueContext::Expression
    } else {
        ValueContext::Juxtaposed
    };
    Some(AssignedValue { place, ..value })
}

/// Whether a user is named before the name at `start`: on its line, `user bob pass …`, or on the line before,
/// as in configuration files of mail programs.
fn follows_user(bytes: &[u8], start: usize) -> bool {
    let before = &bytes[start.saturating_sub(USER_BYTES_MAX)..start];
    let is_user = |line: &[u8], alone: bool| {
        let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        let named = |name: &[u8]| USER_WORDS.iter().any(|known| name.eq_ignore_ascii_case(known));
        matches!(words.as_slice(), [first @ .., name, _] if named(name) && (!alone || first.is_empty()))
    };
    let mut lines = before.rsplit(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    let own = lines.next().unwrap_or_default();
    if !own.is_empty() {
        return is_user(own, false);
    }
    let above = lines.next().unwrap_or_default();
    // In a protocol, the server answers between them: `USER bob`, `331 …`.
    let answers = above.len() > 3 && above[..3].iter().all(u8::is_ascii_digit);
    is_user(above, true) || answers && lines.next().is_some_and(|line| is_user(line, true))
}

/// The context of `name=` at `start`, if it is part of a query or connection string or alone in
/// quotes.
pub(super) fn parameter(bytes: &[u8], start: usize, value: usize) -> Option<ValueContext> {
    let before = bytes[..start].last();
    if matches!(before, Some(b'?' | b'&' | b';' | b'#')) {
        return Some(ValueContext::Query);
    }
    match bytes.get(unquoted(bytes, value, ValueContext::Query).end) {
        Some(b'&') => Some(ValueContext::Query),
        Some(b'"' | b'\'') if matches!(before, Some(b'"' | b'\'')) => Some(ValueContext::Quoted),
        _ => None,
    }
}
