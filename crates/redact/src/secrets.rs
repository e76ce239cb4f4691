//! Finds secrets in one pass and masks them.
//!
//! A sliding window of three bytes is tested against a bitmap of all anchors; scanners run only
//! where it reports a possible anchor. Ordinary text costs a few instructions per byte and no
//! allocation.

use super::rules::{AnchorKey, AnchorScanner, RuleAnchor, RuleId};
use super::{assign, command, cookie, manifest, pem, query, scheme, shape, url};

/// A secret at `text[start..end]`, and the rule that found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SecretSpan {
    pub start: usize,
    pub end: usize,
    pub rule: RuleId,
}

impl SecretSpan {
    pub(super) fn mask_bytes(&self) -> usize {
        MASK_START.len() + self.rule.name().len() + MASK_END.len()
    }

    pub(super) fn push_mask(&self, out: &mut String) {
        out.push_str(MASK_START);
        out.push_str(self.rule.name());
        out.push_str(MASK_END);
    }
}

const MASK_START: &str = "[redacted:";
const MASK_END: &str = "]";
/// Maximum masking rounds: masking one secret can reveal the shape of another, rarely more than
/// once.
const ROUNDS_MAX: usize = 8;

/// All secrets of `text` in order, without overlaps.
pub(super) fn find(text: &str) -> Vec<SecretSpan> {
    let mut spans: Vec<SecretSpan> = Vec::new();
    let mut from = 0;
    // The next secret already found; its inside is not scanned.
    let mut ahead: Option<SecretSpan> = None;
    loop {
        let until = ahead.map_or(text.len(), |span| span.start);
        if let Some((span, after)) = next_secret(text, from, until) {
            spans.push(span);
            from = after;
            if ahead.is_none_or(|other| span.start < other.start) {
                ahead = Some(span);
            }
        } else if let Some(span) = ahead.take() {
            from = from.max(span.end);
        } else {
            return merged(spans);
        }
    }
}

/// The first secret whose anchor ends in `text[from..until]`, and where to continue.
fn next_secret(text: &str, from: usize, until: usize) -> Option<(SecretSpan, usize)> {
    let bytes = text.as_bytes();
    // The anchor may begin up to two bytes earlier.
    let mut key = AnchorKey::from_bytes(&bytes[from.saturating_sub(2)..from]);
    let mut here = from;
    for &byte in bytes.get(from..until)? {
        key = key.next(byte);
        here += 1;
        if key.may_anchor()
            && here >= 3
            && let Some(span) = match_anchors(text, here - 3, key)
        {
            return Some((span, here));
        }
    }
    None
}

/// Sorts spans and merges overlapping ones: the end of a key may reach back over an earlier match.
fn merged(mut spans: Vec<SecretSpan>) -> Vec<SecretSpan> {
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    spans.dedup_by(|later, earlier| {
        let overlap = later.start < earlier.end;
        if overlap {
            earlier.end = earlier.end.max(later.end);
        }
        overlap
    });
    spans
}

/// The text with its secrets masked, and their number. `None` if it has none.
pub(super) fn mask(text: &str) -> Option<(String, u32)> {
    let mut spans = find(text);
    if spans.is_empty() {
        return None;
    }
    let mut masked = 0;
    let mut out = text.to_owned();
    for _ in 0..ROUNDS_MAX {
        masked += spans.len() as u32;
        out = replace(&out, &spans);
        spans = find(&out);
        if spans.is_empty() {
            break;
        }
    }
    Some((out, masked))
}

/// Replaces the spans by their masks.
pub(super) fn replace(text: &str, spans: &[SecretSpan]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for span in spans {
        out.push_str(&text[from..span.start]);
        span.push_mask(&mut out);
        from = span.end;
    }
    out.push_str(&text[from..]);
    out
}

/// The secret found by an anchor at `start`, if any.
fn match_anchors(text: &str, start: usize, key: AnchorKey) -> Option<SecretSpan> {
    let bytes = text.as_bytes();
    key.anchors(&bytes[start..]).find_map(|anchor| {
        let (start, end, rule) = run_scanner(bytes, start, anchor)?;
        // Secrets are ASCII, but a quoted value may contain any character.
        let start = text.ceil_char_boundary(start);
        let end = text.ceil_char_boundary(end);
        (start < end).then_some(SecretSpan { start, end, rule })
    })
}

/// Runs the anchor's scanner.
fn run_scanner(bytes: &[u8], at: usize, anchor: &RuleAnchor) -> Option<(usize, usize, RuleId)> {
    match anchor.scanner {
        AnchorScanner::Shape => {
            shape::match_at(bytes, at, anchor).map(|(start, end)| (start, end, anchor.rule))
        }
        AnchorScanner::Name | AnchorScanner::Named | AnchorScanner::Word => {
            assign::secret_at(bytes, at, anchor)
        }
        AnchorScanner::Url => url::secret_at(bytes, at).or_else(|| query::secret_at(bytes, at)),
        AnchorScanner::Pem => pem::secret_at(bytes, at),
        AnchorScanner::Scheme => scheme::secret_at(bytes, at, anchor.len()),
        AnchorScanner::Cookie => cookie::secret_at(bytes, at + anchor.len()),
        AnchorScanner::Manifest => manifest::secret_at(bytes, at, anchor.len()),
        AnchorScanner::Command => command::secret_at(bytes, at),
    }
}
