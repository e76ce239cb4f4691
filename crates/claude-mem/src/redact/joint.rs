//! What stands between a name and its value: an operator, a few words, or just a blank.

use super::class;
use super::code;
use super::literal::{opening, quote};
use super::place::{Place, Value, blanks, quoted, unquoted};

const BLANKS_MAX: usize = 40;
/// `for the admin account` and no more.
const ABOUT_BYTES_MAX: usize = 40;

/// The operator at `at` or behind a few words: its sign and where it ends.
pub(super) fn operator(bytes: &[u8], at: usize, quoted_name: bool) -> Option<(u8, usize)> {
    let rest = bytes.get(at..)?;
    let length = match rest {
        [b':', b':', ..] | [b'=', b'~', ..] => return None,
        [b'=' | b'!', b'=', b'=', ..]
        | [b'?', b'?', b'=', ..]
        | [b'|', b'|', b'=', ..]
        | [b'%', b'3', b'D', ..] => 3,
        [b':' | b'=' | b'!' | b'+' | b'?', b'=', ..]
        | [b'=', b'>', ..]
        | [b'i', b's', b' ', _, ..] => 2,
        [b'=' | b':', ..] => 1,
        [b',', ..] if quoted_name => 1,
        [b'f', b'o', b'r', b' ', ..] => {
            let near = &rest[..rest.len().min(ABOUT_BYTES_MAX)];
            let words = near
                .iter()
                .take_while(|b| class::has(class::URL, **b) || **b == b' ');
            return operator(bytes, at + words.count(), false)
                .or_else(|| is_within(bytes, at, near));
        }
        // A full-width colon.
        [0xEF, 0xBC, 0x9A, ..] => return Some((b':', at + 3)),
        _ => return None,
    };
    Some((rest[0], at + length))
}

/// `for the database is …`
fn is_within(bytes: &[u8], at: usize, near: &[u8]) -> Option<(u8, usize)> {
    let found = near.windows(4).position(|w| w == b" is ")?;
    (at + found + 4 < bytes.len()).then_some((b'i', at + found + 3))
}

/// `name: DB_PASSWORD`, then `value: …`: how containers and old configuration files are told.
pub(super) fn follow_on(bytes: &[u8], at: usize) -> Option<Value> {
    let rest = bytes.get(at..)?;
    let joint = |b: &&u8| b" \t\r\n,\"'\\".contains(b);
    let skipped = rest.iter().take(BLANKS_MAX).take_while(joint).count();
    let word = rest.get(skipped..skipped + 5)?;
    // `token, value = …` is a list.
    let apart = rest[..skipped]
        .iter()
        .any(|b| matches!(b, b'\n' | b'"' | b'\''));
    let quoted_name = at > 0 && matches!(bytes[at - 1], b'"' | b'\'');
    if skipped == 0 || !(apart || quoted_name) || !word.eq_ignore_ascii_case(b"value") {
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
        Some(open) => quoted(bytes, open, Place::Quoted),
        None => unquoted(bytes, here, Place::Line),
    })
}

/// A value behind a blank alone: `--password value`, `login me password value`, SQL's
/// `PASSWORD 'value'`, and `the token value` of a sentence.
pub(super) fn argument(bytes: &[u8], start: usize, end: usize, spaces: usize) -> Option<Value> {
    let here = end + spaces;
    if spaces == 0 || matches!(bytes.get(here), None | Some(b'-' | b'\n' | b'\r')) {
        return None;
    }
    let option = bytes[start] == b'-';
    if let Some(open) = opening(bytes, here) {
        let place = if option { Place::Quoted } else { Place::Bare };
        return Some(quoted(bytes, open, place));
    }
    let before = &bytes[start.saturating_sub(80)..start];
    if option || before.windows(6).any(|w| w == b"login ") {
        return Some(unquoted(bytes, here, Place::Loose));
    }
    let value = code::judge(bytes, start, unquoted(bytes, here, Place::Loose));
    let place = if value.place == Place::Code {
        Place::Code
    } else {
        Place::Bare
    };
    Some(Value { place, ..value })
}

/// Whether `name=` at `start` is a part of a query or of a connection string, or alone in
/// quotes, and not code.
pub(super) fn parameter(bytes: &[u8], start: usize, value: usize) -> Option<Place> {
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
