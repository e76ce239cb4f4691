//! Finds private key blocks: `-----BEGIN … PRIVATE KEY-----` to `-----END … PRIVATE KEY-----`, and
//! PuTTY keys.
//!
//! A block without an end extends to the end of the text; an end without a beginning extends back
//! over the key lines before it. Source code that merely mentions the marker is not a block.

use memchr::memmem;

use super::class;
use super::rules::RuleId;

const PRIVATE_KEY: RuleId = RuleId::named("private-key");
/// How far after the marker the key may start, after `Proc-Type`, `DEK-Info` and a comment.
const HEADERS_BYTES_MAX: usize = 600;
/// Minimum length of a key line. Full lines have 64 or 76 letters; words of prose are shorter.
const KEY_LINE_BYTES_MIN: usize = 32;

/// The key block whose `--BEGIN` or `--END` is at `at`.
pub(super) fn secret_at(bytes: &[u8], at: usize) -> Option<(usize, usize, RuleId)> {
    if bytes[at..].starts_with(PUTTY_START) {
        return putty(bytes, at);
    }
    let (start, marker_end, begins) = marker(bytes, at)?;
    if begins {
        if !has_key_material(&bytes[marker_end..]) {
            return None;
        }
        let end = marker_end + end_marker(&bytes[marker_end..]).unwrap_or(bytes.len() - marker_end);
        return Some((start, end, PRIVATE_KEY));
    }
    let first = key_lines_before(bytes, start);
    (start - first >= KEY_LINE_BYTES_MIN).then_some((first, marker_end, PRIVATE_KEY))
}

const PUTTY_START: &[u8] = b"Private-Lines:";
const PUTTY_END: &[u8] = b"Private-MAC:";

/// A PuTTY key: lines between two headers.
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
        Some((_, end, true)) => has_key_material(&bytes[end..]) && end_marker(&bytes[end..]).is_none(),
        // The marker itself is cut off; assume a key.
        None => bytes.len() - at < MARKER_BYTES_MAX,
        Some(_) => false,
    }
}

/// Where the block that `text` starts in ends.
pub(super) fn block_end(text: &str) -> Option<usize> {
    end_marker(text.as_bytes())
}

/// A key block that continues in the next text.
pub(super) struct OpenKeyBlock {
    /// Where its marker starts.
    pub start: usize,
    pub has_key_material: bool,
}

/// The key block at the end of `text` that following texts may continue: some of the key is
/// present, or the text ends with the marker.
pub(super) fn open_block(text: &str) -> Option<OpenKeyBlock> {
    let bytes = text.as_bytes();
    if let Some(start) = memmem::rfind(bytes, PUTTY_START) {
        let after = &bytes[start..];
        return memmem::find(after, PUTTY_END)
            .is_none()
            .then(|| OpenKeyBlock { start, has_key_material: has_key_line(&text[start..]) });
    }
    let (start, end, begins) = marker(bytes, memmem::rfind(bytes, b"--BEGIN ")?)?;
    let after = &bytes[end..];
    if !begins || end_marker(after).is_some() {
        return None;
    }
    let holds_a_key = has_key_material(after);
    let nothing_more = !after.strip_prefix(b"\\n").unwrap_or(after).iter().any(u8::is_ascii_alphanumeric);
    (holds_a_key || nothing_more).then_some(OpenKeyBlock { start, has_key_material: holds_a_key })
}

/// Where a block ends in `text` that started in an earlier text.
pub(super) fn continued_block_end(text: &str) -> Option<usize> {
    let putty = memmem::find(text.as_bytes(), PUTTY_END).map(|at| at + PUTTY_END.len());
    block_end(text).or(putty)
}

/// Whether `text` contains a key line.
pub(super) fn has_key_line(text: &str) -> bool {
    let mut runs = text.as_bytes().split(|b| !class::has(class::B64, *b));
    runs.any(|run| run.len() >= KEY_LINE_BYTES_MIN)
}

const MARKER_BYTES_MAX: usize = 80;

/// The marker around `--BEGIN` or `--END`: its start, its end, and whether it is a BEGIN.
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

fn end_marker(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(i) = memmem::find(&bytes[from..], b"--END ") {
        if let Some((_, end, false)) = marker(bytes, from + i) {
            return Some(end);
        }
        from += i + 6;
    }
    None
}

/// Whether key material follows: a long run of base64 nearby, or only base64 up to the end.
fn has_key_material(after: &[u8]) -> bool {
    let near = &after[..after.len().min(HEADERS_BYTES_MAX)];
    let longest = near.split(|b| !class::has(class::B64, *b)).map(<[u8]>::len).max().unwrap_or(0);
    let ends_here = after.len() < KEY_LINE_BYTES_MIN * 2
        && after.trim_ascii().len() > 3
        && after.trim_ascii().iter().all(|b| class::has(class::B64, *b) || b"\\ \n\r".contains(b));
    longest >= KEY_LINE_BYTES_MIN || ends_here
}

/// The start of the base64 lines directly before `end`.
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
        if !whole_line || !(length >= KEY_LINE_BYTES_MIN || last_line || (start == 0 && length > 0)) {
            return first;
        }
        first = start;
    }
}
