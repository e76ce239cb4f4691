//! Matches the shape of a rule: literal text and runs of byte classes.
//!
//! No backtracking: a run takes all it may, so time is linear in the bytes read.

use super::class;
use super::rules::{AnchorKey, AnchorScanner, ClassRun, RuleAnchor, RuleId, SecretRule, ShapePiece};

/// The extent of the secret whose anchor is at `start`.
pub(super) fn match_at(bytes: &[u8], start: usize, anchor: &RuleAnchor) -> Option<(usize, usize)> {
    let rule = anchor.rule.rule();
    if rule.edge && !word_begins(bytes, start) {
        return None;
    }
    let from = match rule.before {
        Some(run) => start - match_before(&bytes[..start], run)?,
        None => start,
    };
    let tail = start + anchor.len();
    let end = tail + match_pieces(rule.after(), &bytes[tail..])?;
    passes_entropy(rule, &bytes[tail..end]).then_some((from, end))
}

/// Whether the token that starts before `at` ends at a place where it may have been wrapped or cut:
/// the end of a line, a terminal sequence, a string that the next one continues.
pub(super) fn breaks_off(bytes: &[u8], at: usize) -> bool {
    let length = class::run(&bytes[at..], class::DOTTED, 200);
    length >= 6
        && match &bytes[at + length..] {
            [b'\n', next, ..] => class::has(class::URL, *next),
            [b'\\', b'\n', ..] | [0x1b, ..] => true,
            [b'\'' | b'"', rest @ ..] => rest.iter().take(4).any(|b| matches!(b, b'+' | b'\n')),
            _ => false,
        }
}

/// The rule that matches the whole of `value`.
pub(super) fn rule_of_whole(value: &[u8]) -> Option<RuleId> {
    let key = AnchorKey::from_bytes(value.get(..3)?);
    key.anchors(value)
        .filter(|anchor| anchor.scanner == AnchorScanner::Shape)
        .find(|anchor| match_at(value, 0, anchor).is_some_and(|(_, end)| end == value.len()))
        .map(|anchor| anchor.rule)
}

/// Whether the whole of `value` matches a rule for named values.
pub(super) fn matches_whole(rule: &SecretRule, value: &[u8]) -> bool {
    match_pieces(rule.after(), value) == Some(value.len()) && passes_entropy(rule, value)
}

fn match_before(bytes: &[u8], run: ClassRun) -> Option<usize> {
    let length = class::run_back(bytes, run.class, usize::from(run.max));
    (length >= usize::from(run.min)).then_some(length)
}

/// The length that `pieces` match at the start of `bytes`.
fn match_pieces(pieces: &[ShapePiece], bytes: &[u8]) -> Option<usize> {
    let mut here = 0;
    for (i, piece) in pieces.iter().enumerate() {
        let rest = &bytes[here..];
        here += match piece {
            ShapePiece::Text(text) => {
                let text = text.get().as_bytes();
                rest.starts_with(text).then_some(text.len())?
            }
            ShapePiece::Run(run) => run_length(*run, rest, i + 1 == pieces.len())?,
        };
    }
    Some(here)
}

/// The length of a run. A final run longer than its maximum does not match.
fn run_length(run: ClassRun, bytes: &[u8], last: bool) -> Option<usize> {
    let max = if run.max == u16::MAX { usize::MAX } else { usize::from(run.max) };
    let length = class::run(bytes, run.class, max);
    let goes_on = bytes.get(length).is_some_and(|&b| class::has(run.class, b));
    (length >= usize::from(run.min) && !(last && goes_on)).then_some(length)
}

/// Whether the bytes meet the rule's digit and entropy requirements.
fn passes_entropy(rule: &SecretRule, bytes: &[u8]) -> bool {
    (!rule.digit || bytes.iter().any(u8::is_ascii_digit))
        && (rule.floor_tenths == 0 || entropy(bytes) * 10.0 >= f32::from(rule.floor_tenths))
}

/// Shannon entropy in bits per byte, over the first 512 bytes.
pub(super) fn entropy(bytes: &[u8]) -> f32 {
    let mut counts = [0_u16; 256];
    for &b in bytes.iter().take(512) {
        counts[usize::from(b)] += 1;
    }
    let total = bytes.len().min(512) as f32;
    counts.iter().filter(|&&n| n > 0).map(|&n| f32::from(n) / total).map(|p| -p * p.log2()).sum()
}

/// Whether a word starts at `at`: the byte before is not part of a word, or ends an escape (`\n`,
/// `%3D`, a terminal colour) that only looks like a letter.
pub(super) fn word_begins(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[..at];
    match before {
        [.., b] if !class::has(class::WORD, *b) => true,
        [] | [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f'] => true,
        [.., b'%', a, b] => a.is_ascii_hexdigit() && b.is_ascii_hexdigit(),
        [.., b'm'] => ends_a_colour(before),
        _ => false,
    }
}

/// Whether the bytes end with a terminal colour: `ESC [ 1 ; 32 m`.
fn ends_a_colour(before: &[u8]) -> bool {
    let digits = before[..before.len() - 1]
        .iter()
        .rev()
        .take(12)
        .take_while(|b| b.is_ascii_digit() || **b == b';')
        .count();
    before[..before.len() - 1 - digits].ends_with(b"\x1B[")
}
