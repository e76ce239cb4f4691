//! Keeps the beginning and the end of a long text, and redacts what it keeps.
//!
//! Invariant: a secret that lies across a cut does not leave half of itself behind. The scanner
//! sees a margin beyond the kept part; what it masks is masked whole, and a kept part never
//! begins in the middle of a word. A private key that began in the elided part hides the kept
//! part up to its end.

use super::pem;
use super::secrets::{self, Span};
use crate::limits::{ELISION_BYTES_MAX, REDACT_MARGIN_BYTES};

/// How many bytes of a text are kept, of its beginning and of its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    pub head_bytes: usize,
    pub tail_bytes: usize,
}

impl Cut {
    /// Keeps `total_bytes`: two thirds from the beginning, the rest from the end, where
    /// commands say how they went.
    pub const fn of(total_bytes: usize) -> Self {
        let tail_bytes = total_bytes / 3;
        Self {
            head_bytes: total_bytes - tail_bytes,
            tail_bytes,
        }
    }

    /// Texts up to this length stay whole, and no result is longer.
    pub const fn bytes_max(self) -> usize {
        self.head_bytes + self.tail_bytes + ELISION_BYTES_MAX
    }
}

/// Cuts a text and masks its secrets. `None`: short enough and nothing secret in it.
pub(super) fn redact(text: &str, keep: Cut) -> Option<(String, u32)> {
    let (mut out, mut masked) = if text.len() <= keep.bytes_max() {
        secrets::mask(text)?
    } else {
        elide(text, keep)
    };
    // Masks can be longer than what they hide, and a cut can make a secret's shape of what was
    // none. Both are rare; a second look settles them.
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

fn elide(text: &str, keep: Cut) -> (String, u32) {
    let (head, head_end, head_masked) = head(text, keep.head_bytes);
    let (tail, tail_start, tail_masked) = tail(text, head_end, keep.tail_bytes);
    let mut out = head;
    out.push_str(&elision(tail_start - head_end));
    out.push_str(&tail);
    (out, head_masked + tail_masked)
}

/// The beginning, masked, at most `bytes` long; where in `text` it ends; how much was masked.
fn head(text: &str, bytes: usize) -> (String, usize, u32) {
    let window = &text[..text.floor_char_boundary(bytes + REDACT_MARGIN_BYTES)];
    let spans = secrets::find(window);
    let end = word_end_before(window, window.floor_char_boundary(bytes));
    fit(window, &spans, 0, end, bytes)
}

/// Masks `text[start..end]` into at most `bytes`, dropping from the end what does not fit.
fn fit(text: &str, spans: &[Span], start: usize, end: usize, bytes: usize) -> (String, usize, u32) {
    let mut out = String::with_capacity(bytes.min(end - start));
    let (mut here, mut masked) = (start, 0);
    for span in spans
        .iter()
        .filter(|span| span.start >= start && span.start < end)
    {
        let plain = &text[here..span.start];
        if out.len() + plain.len() + span.mask_bytes() > bytes {
            break;
        }
        out.push_str(plain);
        span.push_mask(&mut out);
        (here, masked) = (span.end, masked + 1);
    }
    let next_span = spans
        .iter()
        .find(|span| span.start >= here)
        .map_or(end, |span| span.start);
    let stop = end
        .min(next_span)
        .max(here)
        .min(here.saturating_add(bytes - out.len()));
    let stop = text.floor_char_boundary(stop).max(here);
    out.push_str(&text[here..stop]);
    (out, stop, masked)
}

/// The end, masked, at most `bytes` long; where in `text` it starts; how much was masked.
fn tail(text: &str, head_end: usize, bytes: usize) -> (String, usize, u32) {
    let start = text.ceil_char_boundary(text.len() - bytes).max(head_end);
    let window_start = start.saturating_sub(REDACT_MARGIN_BYTES).max(head_end);
    let window_start = word_start_after(text, text.ceil_char_boundary(window_start));
    let mut window = &text[window_start..];
    let mut window_start = window_start;
    if pem::is_open(&text[..window_start]) {
        let skipped = pem::end(window).unwrap_or(window.len());
        window_start += skipped;
        window = &window[skipped..];
    }
    let spans = secrets::find(window);
    let mut start = word_start_after(text, start.max(window_start)) - window_start;
    if let Some(span) = spans
        .iter()
        .find(|span| span.start < start && start < span.end)
    {
        start = span.end;
    }
    // What the masks add is taken from the beginning of the tail.
    loop {
        let (out, end, masked) = fit(window, &spans, start, window.len(), usize::MAX);
        debug_assert_eq!(end, window.len());
        if out.len() <= bytes || start >= window.len() {
            return (out, window_start + start, masked);
        }
        start = window.ceil_char_boundary((start + out.len() - bytes).min(window.len()));
        start = word_start_after(window, start);
        if let Some(span) = spans
            .iter()
            .find(|span| span.start < start && start < span.end)
        {
            start = span.end;
        }
    }
}

/// Characters that no secret of one piece contains.
const fn parts_words(c: char) -> bool {
    !c.is_ascii()
        || c.is_ascii_whitespace()
        || matches!(
            c,
            '"' | '\'' | '`' | ',' | ';' | '<' | '>' | '(' | ')' | '[' | ']' | '{' | '}'
        )
}

/// The nearest place at or before `at` where no word is cut in two.
fn word_end_before(text: &str, at: usize) -> usize {
    if text[at..].chars().next().is_none_or(parts_words) {
        return at;
    }
    let before = &text[..at];
    before
        .char_indices()
        .rfind(|(_, c)| parts_words(*c))
        .map_or(0, |(i, c)| i + c.len_utf8())
}

/// The nearest place at or after `at` where no word is cut in two.
fn word_start_after(text: &str, at: usize) -> usize {
    if text[..at].chars().next_back().is_none_or(parts_words) {
        return at;
    }
    text[at..].find(parts_words).map_or(text.len(), |i| at + i)
}

/// What stands in the place of `bytes` bytes that were left out.
pub(super) fn elision(bytes: usize) -> String {
    format!("[… {} bytes elided …]", grouped(bytes))
}

/// 1234567 → `1,234,567`.
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
