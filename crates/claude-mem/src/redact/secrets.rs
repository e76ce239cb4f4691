//! Finds secrets in one pass and puts masks in their place.
//!
//! Three bytes at a time the text is held against a bitmap of all anchors; only where it says
//! "maybe" does anything else look. Ordinary text costs a few instructions per byte and no
//! memory.

use super::rules::{Anchor, Key, RuleId, Scanner};
use super::{assign, command, cookie, manifest, pem, query, scheme, shape, url};

/// A secret: `text[start..end]`, by a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub start: usize,
    pub end: usize,
    pub rule: RuleId,
}

impl Span {
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
/// Masking one secret can uncover the shape of another. It hardly ever does so twice.
const ROUNDS_MAX: usize = 8;

/// All secrets of `text` in order, none overlapping another.
pub(super) fn find(text: &str) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut from = 0;
    // The next secret that is known already: nothing is looked for inside it.
    let mut ahead: Option<Span> = None;
    loop {
        let until = ahead.map_or(text.len(), |span| span.start);
        if let Some((span, after)) = next(text, from, until) {
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

/// The first secret whose anchor ends in `text[from..until]`, and where to look on.
fn next(text: &str, from: usize, until: usize) -> Option<(Span, usize)> {
    let bytes = text.as_bytes();
    // The anchor may have begun before.
    let mut key = Key::of(&bytes[from.saturating_sub(2)..from]);
    let mut here = from;
    for &byte in bytes.get(from..until)? {
        key = key.next(byte);
        here += 1;
        if key.may_anchor()
            && here >= 3
            && let Some(span) = look(text, here - 3, key)
        {
            return Some((span, here));
        }
    }
    None
}

/// In order, and one where several overlap: an end of a key may reach back over what was taken
/// for something else.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
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

/// `text` with masks for its secrets, and how many. `None`: it has none.
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

pub(super) fn replace(text: &str, spans: &[Span]) -> String {
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

/// What the anchors at `start` find there.
fn look(text: &str, start: usize, key: Key) -> Option<Span> {
    let bytes = text.as_bytes();
    key.anchors(&bytes[start..]).find_map(|anchor| {
        let (start, end, rule) = ask(bytes, start, anchor)?;
        // Secrets are ASCII, but a quoted value may end anywhere.
        let start = text.ceil_char_boundary(start);
        let end = text.ceil_char_boundary(end);
        (start < end).then_some(Span { start, end, rule })
    })
}

fn ask(bytes: &[u8], at: usize, anchor: &Anchor) -> Option<(usize, usize, RuleId)> {
    match anchor.scanner {
        Scanner::Shape => {
            shape::at(bytes, at, anchor).map(|(start, end)| (start, end, anchor.rule))
        }
        Scanner::Name | Scanner::Named | Scanner::Word => assign::at(bytes, at, anchor),
        Scanner::Url => url::at(bytes, at).or_else(|| query::at(bytes, at)),
        Scanner::Pem => pem::at(bytes, at),
        Scanner::Scheme => scheme::at(bytes, at, anchor.len()),
        Scanner::Cookie => cookie::at(bytes, at + anchor.len()),
        Scanner::Manifest => manifest::at(bytes, at, anchor.len()),
        Scanner::Command => command::at(bytes, at),
    }
}
