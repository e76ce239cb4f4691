//! Private key blocks: `-----BEGIN … PRIVATE KEY-----` to `-----END … PRIVATE KEY-----`.
//!
//! A block without its end reaches to the end of the text; an end without its beginning reaches
//! back over the lines of key before it. Source code that merely names the marker is no block.

use memchr::memmem;

use super::class;
use super::rules::RuleId;

const PRIVATE_KEY: RuleId = RuleId::named("private-key");
/// Room for `Proc-Type`, `DEK-Info` and a comment before the key itself.
const HEADERS_BYTES_MAX: usize = 600;
/// A line of a key is 64 or 76 letters; a word of prose is not this long.
const KEY_LINE_BYTES_MIN: usize = 32;

/// The block whose marker's word (`--BEGIN` or `--END`) stands at `at`.
pub(super) fn at(bytes: &[u8], at: usize) -> Option<(usize, usize, RuleId)> {
    if bytes[at..].starts_with(PUTTY_START) {
        return putty(bytes, at);
    }
    let (start, marker_end, begins) = marker(bytes, at)?;
    if begins {
        if !holds_a_key(&bytes[marker_end..]) {
            return None;
        }
        let end = marker_end + end_of(&bytes[marker_end..]).unwrap_or(bytes.len() - marker_end);
        return Some((start, end, PRIVATE_KEY));
    }
    let first = key_lines_before(bytes, start);
    (start - first >= KEY_LINE_BYTES_MIN).then_some((first, marker_end, PRIVATE_KEY))
}

const PUTTY_START: &[u8] = b"Private-Lines:";
const PUTTY_END: &[u8] = b"Private-MAC:";

/// PuTTY writes a key as so many lines between two headers.
fn putty(bytes: &[u8], at: usize) -> Option<(usize, usize, RuleId)> {
    let end = memmem::find(&bytes[at..], PUTTY_END).map_or(bytes.len(), |i| at + i);
    let start = at + bytes[at..end].iter().position(|b| *b == b'\n')? + 1;
    (start < end).then_some((start, end, PRIVATE_KEY))
}

/// Whether `text` ends inside a private key block.
pub(super) fn is_open(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some(at) = memmem::rfind(bytes, b"--BEGIN ") else {
        return false;
    };
    match marker(bytes, at) {
        Some((_, end, true)) => holds_a_key(&bytes[end..]) && end_of(&bytes[end..]).is_none(),
        // The marker itself is cut: say yes.
        None => bytes.len() - at < MARKER_BYTES_MAX,
        Some(_) => false,
    }
}

/// Where the block that `text` begins in ends.
pub(super) fn end(text: &str) -> Option<usize> {
    end_of(text.as_bytes())
}

/// A block that a text leaves open for the next one.
pub(super) struct LeftOpen {
    /// Where its marker begins.
    pub start: usize,
    pub holds_a_key: bool,
}

/// Whether the texts behind `text` may belong to a key that begins in it: there is some of the
/// key already, or the text ends with the marker.
pub(super) fn left_open(text: &str) -> Option<LeftOpen> {
    let bytes = text.as_bytes();
    if let Some(start) = memmem::rfind(bytes, PUTTY_START) {
        let after = &bytes[start..];
        return memmem::find(after, PUTTY_END).is_none().then(|| LeftOpen {
            start,
            holds_a_key: is_key_line(&text[start..]),
        });
    }
    let (start, end, begins) = marker(bytes, memmem::rfind(bytes, b"--BEGIN ")?)?;
    let after = &bytes[end..];
    if !begins || end_of(after).is_some() {
        return None;
    }
    let holds_a_key = holds_a_key(after);
    let nothing_more = !after
        .strip_prefix(b"\\n")
        .unwrap_or(after)
        .iter()
        .any(u8::is_ascii_alphanumeric);
    (holds_a_key || nothing_more).then_some(LeftOpen { start, holds_a_key })
}

/// Where a block ends in `text` that began in a text before it.
pub(super) fn closed_at(text: &str) -> Option<usize> {
    let putty = memmem::find(text.as_bytes(), PUTTY_END).map(|at| at + PUTTY_END.len());
    end(text).or(putty)
}

/// Whether a line of a key stands in `text`.
pub(super) fn is_key_line(text: &str) -> bool {
    let mut runs = text.as_bytes().split(|b| !class::has(class::B64, *b));
    runs.any(|run| run.len() >= KEY_LINE_BYTES_MIN)
}

const MARKER_BYTES_MAX: usize = 80;

/// A marker around `--BEGIN` or `--END`: its start, its end, and whether it begins a block.
fn marker(bytes: &[u8], at: usize) -> Option<(usize, usize, bool)> {
    let start = at - bytes[..at].iter().rev().take_while(|b| **b == b'-').count();
    let rest = &bytes[at + 2..];
    let begins = rest.starts_with(b"BEGIN ");
    if !begins && !rest.starts_with(b"END ") {
        return None;
    }
    let limit = rest.len().min(MARKER_BYTES_MAX);
    let close = memmem::find(&rest[..limit], b"--")?;
    let label = &rest[..close];
    if at + 2 - start < 4 || memmem::find(label, b"PRIVATE KEY").is_none() {
        return None;
    }
    let dashes = rest[close..].iter().take_while(|b| **b == b'-').count();
    Some((start, at + 2 + close + dashes, begins))
}

fn end_of(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(i) = memmem::find(&bytes[from..], b"--END ") {
        if let Some((_, end, false)) = marker(bytes, from + i) {
            return Some(end);
        }
        from += i + 6;
    }
    None
}

/// Whether key material follows soon: one long run of base64, or nothing else up to the end.
fn holds_a_key(after: &[u8]) -> bool {
    let near = &after[..after.len().min(HEADERS_BYTES_MAX)];
    let longest = near
        .split(|b| !class::has(class::B64, *b))
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0);
    let ends_here = after.len() < KEY_LINE_BYTES_MIN * 2
        && after.trim_ascii().len() > 3
        && after
            .trim_ascii()
            .iter()
            .all(|b| class::has(class::B64, *b) || b"\\ \n\r".contains(b));
    longest >= KEY_LINE_BYTES_MIN || ends_here
}

/// The start of the lines of base64 directly before `end`.
fn key_lines_before(bytes: &[u8], end: usize) -> usize {
    let mut first = end;
    loop {
        let before = bytes[..first].trim_ascii_end();
        let before = before.strip_suffix(b"\\n").unwrap_or(before);
        let length = class::run_back(before, class::B64, usize::MAX);
        let mut start = before.len() - length;
        start += usize::from(start > 0 && before[start - 1] == b'\\' && length > 0);
        let whole_line = start == 0 || !class::has(class::WORD, before[start - 1]);
        let last_line = first == end && length > 0;
        if !whole_line || !(length >= KEY_LINE_BYTES_MIN || last_line || (start == 0 && length > 0))
        {
            return first;
        }
        first = start;
    }
}
