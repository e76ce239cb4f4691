//! Cuts a long text to its head and tail, and masks secrets in what is kept.
//!
//! Invariant: a secret that crosses a cut leaves no part behind. The scanner sees a margin beyond
//! the kept part, masks are never split, and a kept part never starts inside a word. A private key
//! that began in the elided part hides the tail up to the key's end.

use super::pem;
use super::secret_span::SecretSpan;
use super::secrets;
use claude_mem_core::limits::{ELISION_BYTES_MAX, REDACT_MARGIN_BYTES};

/// How many bytes to keep of a text's head and tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadTailLimit {
    pub head_bytes: usize,
    pub tail_bytes: usize,
}

impl HeadTailLimit {
    /// Keeps `total_bytes`: two thirds from the head, one third from the tail, where commands
    /// report their result.
    pub const fn from_total(total_bytes: usize) -> Self {
        let tail_bytes = total_bytes / 3;
        Self { head_bytes: total_bytes - tail_bytes, tail_bytes }
    }

    /// Maximum length of a result; texts up to this length are not cut.
    pub const fn bytes_max(self) -> usize {
        self.head_bytes + self.tail_bytes + ELISION_BYTES_MAX
    }
}

/// Cuts a text and masks its secrets. `None` if it is short enough and has no secrets.
pub(super) fn redact(text: &str, keep: HeadTailLimit) -> Option<(String, u32)> {
    let (mut out, mut masked) =
        if text.len() <= keep.bytes_max() { secrets::mask(text)? } else { elide(text, keep) };
    // A mask can be longer than its secret, and a cut can create the shape of a secret. Both are
    // rare; repeating settles them.
    for _ in 0..SETTLE_ROUNDS_MAX {
        if out.len() > keep.bytes_max() {
            let (shorter, more) = elide(&out, keep);
            (out, masked) = (shorter, masked + more);
        }
        match secrets::mask(&out) {
            Some((again, more)) => (out, masked) = (again, masked + more),
            None if out.len() <= keep.bytes_max() => break,
            None => {}
        }
    }
    Some((out, masked))
}

const SETTLE_ROUNDS_MAX: usize = 8;

/// Joins masked head and tail around an elision mark.
fn elide(text: &str, keep: HeadTailLimit) -> (String, u32) {
    let (head, head_end, head_masked) = head(text, keep.head_bytes);
    let (tail, tail_start, tail_masked) = tail(text, head_end, keep.tail_bytes);
    let mut out = head;
    out.push_str(&elision(tail_start - head_end));
    out.push_str(&tail);
    (out, head_masked + tail_masked)
}

/// The masked head of at most `bytes`, where it ends in `text`, and the number of masks.
fn head(text: &str, bytes: usize) -> (String, usize, u32) {
    let window = &text[..text.floor_char_boundary(bytes + REDACT_MARGIN_BYTES)];
    let spans = secrets::find(window);
    let end = word_end_before(window, window.floor_char_boundary(bytes));
    fit(window, &spans, 0, end, bytes)
}

/// Masks `text[start..end]` into at most `bytes`, dropping what does not fit at the end.
fn fit(text: &str, spans: &[SecretSpan], start: usize, end: usize, bytes: usize) -> (String, usize, u32) {
    let mut out = String::with_capacity(bytes.min(end - start));
    let (mut here, mut masked) = (start, 0);
    for span in spans.iter().filter(|span| span.start >= start && span.start < end) {
        let plain = &text[here..span.start];
        if out.len() + plain.len() + span.mask_bytes() > bytes {
            break;
        }
        out.push_str(plain);
        span.push_mask(&mut out);
        (here, masked) = (span.end, masked + 1);
    }
    let next_span = spans.iter().find(|span| span.start >= here).map_or(end, |span| span.start);
    let stop = end.min(next_span).max(here).min(here.saturating_add(bytes - out.len()));
    let stop = text.floor_char_boundary(stop).max(here);
    out.push_str(&text[here..stop]);
    (out, stop, masked)
}

/// The masked tail of at most `bytes`, where it starts in `text`, and the number of masks.
fn tail(text: &str, head_end: usize, bytes: usize) -> (String, usize, u32) {
    let start = text.ceil_char_boundary(text.len() - bytes).max(head_end);
    let window_start = start.saturating_sub(REDACT_MARGIN_BYTES).max(head_end);
    let window_start = word_start_after(text, text.ceil_char_boundary(window_start));
    let mut window = &text[window_start..];
    let mut window_start = window_start;
    if pem::is_open(&text[..window_start]) {
        let skipped = pem::block_end(window).unwrap_or(window.len());
        window_start += skipped;
        window = &window[skipped..];
    }
    let spans = secrets::find(window);
    let mut start = word_start_after(text, start.max(window_start)) - window_start;
    if let Some(span) = spans.iter().find(|span| span.start < start && start < span.end) {
        start = span.end;
    }
    // Shorten the start of the tail by what the masks add.
    loop {
        let (out, end, masked) = fit(window, &spans, start, window.len(), usize::MAX);
        debug_assert_eq!(end, window.len());
        if out.len() <= bytes || start >= window.len() {
            return (out, window_start + start, masked);
        }
        start = window.ceil_char_boundary((start + out.len() - bytes).min(window.len()));
        start = word_start_after(window, start);
        if let Some(span) = spans.iter().find(|span| span.start < start && start < span.end) {
            start = span.end;
        }
    }
}

/// Whether no single-word secret contains this character.
const fn is_word_boundary(c: char) -> bool {
    !c.is_ascii()
        || c.is_ascii_whitespace()
        || matches!(c, '"' | '\'' | '`' | ',' | ';' | '<' | '>' | '(' | ')' | '[' | ']' | '{' | '}')
}

/// The nearest word boundary at or before `at`.
fn word_end_before(text: &str, at: usize) -> usize {
    if text[at..].chars().next().is_none_or(is_word_boundary) {
        return at;
    }
    let before = &text[..at];
    before.char_indices().rfind(|(_, c)| is_word_boundary(*c)).map_or(0, |(i, c)| i + c.len_utf8())
}

/// The nearest word boundary at or after `at`.
fn word_start_after(text: &str, at: usize) -> usize {
    if text[..at].chars().next_back().is_none_or(is_word_boundary) {
        return at;
    }
    text[at..].find(is_word_boundary).map_or(text.len(), |i| at + i)
}

/// The mark that replaces `bytes` elided bytes.
pub(super) fn elision(bytes: usize) -> String {
    format!("[… {} bytes elided …]", grouped(bytes))
}

/// Groups digits: 1234567 → `1,234,567`.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
