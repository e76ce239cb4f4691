//! Scans a payload that is too long, too deep or malformed for its outermost string fields.
//!
//! `scan_fields` accepts any bytes and makes one pass without recursion. It copies nothing but the
//! fields themselves and skips content unread.

use crate::limits::FIELD_BYTES_MAX;
use std::borrow::Cow;

/// Calls `found` for every field `"name": "text"` of the outermost object.
pub(super) fn scan_fields<'a>(payload: &'a [u8], mut found: impl FnMut(&'a [u8], Cow<'a, str>)) {
    let mut depth = 0_usize;
    let mut key: Option<&[u8]> = None;
    let mut after_colon = false;
    let mut at = 0;
    while let Some(&byte) = payload.get(at) {
        match byte {
            b'"' => {
                let Some(end) = string_end(payload, at + 1) else {
                    return;
                };
                if depth == 1 {
                    let inside = &payload[at + 1..end];
                    if !after_colon {
                        key = Some(inside);
                    } else if let Some(key) = key.take()
                        && let Some(text) = short_text(&payload[at..=end])
                    {
                        found(key, text);
                    }
                }
                at = end;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' if depth == 1 => after_colon = true,
            b',' if depth == 1 => {
                after_colon = false;
                key = None;
            }
            _ => {}
        }
        at += 1;
    }
}

/// The position of the closing quote of the string that starts at `from`.
fn string_end(payload: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let step = memchr::memchr2(b'"', b'\\', payload.get(from..)?)?;
        match payload[from + step] {
            b'"' => return Some(from + step),
            _ => from += step + 2,
        }
    }
}

fn short_text(literal: &[u8]) -> Option<Cow<'_, str>> {
    let inside = &literal[1..literal.len() - 1];
    if literal.len() > FIELD_BYTES_MAX || inside.iter().any(u8::is_ascii_control) {
        return None;
    }
    if !inside.contains(&b'\\') {
        return Some(String::from_utf8_lossy(inside));
    }
    serde_json::from_slice(literal).ok().map(Cow::Owned)
}

/// True if the bytes begin with a complete JSON object. A client that keeps stdin open has then sent
/// its whole payload.
pub(super) fn is_complete_object(payload: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&byte) = payload.get(at) {
        match byte {
            b'"' => match string_end(payload, at + 1) {
                Some(end) => at = end,
                None => return false,
            },
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return true;
                }
            }
            _ => {}
        }
        at += 1;
    }
    false
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
