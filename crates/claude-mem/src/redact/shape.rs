//! Matches the shape of one rule at one place: text, then bytes of an alphabet, then text.
//!
//! No backtracking: a run takes all it may. Time is bounded by the length of what it reads.

use super::class;
use super::rules::{Anchor, Key, Piece, Rule, RuleId, Run, Scanner};

/// The secret whose anchor stands at `start`: where it begins and ends.
pub(super) fn at(bytes: &[u8], start: usize, anchor: &Anchor) -> Option<(usize, usize)> {
    let rule = anchor.rule.rule();
    if rule.edge && !word_begins(bytes, start) {
        return None;
    }
    let from = match rule.before {
        Some(run) => start - before(&bytes[..start], run)?,
        None => start,
    };
    let tail = start + anchor.len();
    let end = tail + follow(rule.after(), &bytes[tail..])?;
    is_rich_enough(rule, &bytes[tail..end]).then_some((from, end))
}

/// The rule whose shape the whole of `value` has.
pub(super) fn of_whole(value: &[u8]) -> Option<RuleId> {
    let key = Key::of(value.get(..3)?);
    key.anchors(value)
        .filter(|anchor| anchor.scanner == Scanner::Shape)
        .find(|anchor| at(value, 0, anchor).is_some_and(|(_, end)| end == value.len()))
        .map(|anchor| anchor.rule)
}

/// Whether the whole of `value` is what a rule for named values asks for.
pub(super) fn is_whole(rule: &Rule, value: &[u8]) -> bool {
    follow(rule.after(), value) == Some(value.len()) && is_rich_enough(rule, value)
}

fn before(bytes: &[u8], run: Run) -> Option<usize> {
    let length = class::run_back(bytes, run.class, usize::from(run.max));
    (length >= usize::from(run.min)).then_some(length)
}

/// How far `pieces` reach into `bytes`.
fn follow(pieces: &[Piece], bytes: &[u8]) -> Option<usize> {
    let mut here = 0;
    for (i, piece) in pieces.iter().enumerate() {
        let rest = &bytes[here..];
        here += match piece {
            Piece::Text(text) => {
                let text = text.get().as_bytes();
                rest.starts_with(text).then_some(text.len())?
            }
            Piece::Run(run) => length(*run, rest, i + 1 == pieces.len())?,
        };
    }
    Some(here)
}

/// A last run that goes on beyond its maximum is something else.
fn length(run: Run, bytes: &[u8], last: bool) -> Option<usize> {
    let max = if run.max == u16::MAX {
        usize::MAX
    } else {
        usize::from(run.max)
    };
    let length = class::run(bytes, run.class, max);
    let goes_on = bytes.get(length).is_some_and(|&b| class::has(run.class, b));
    (length >= usize::from(run.min) && !(last && goes_on)).then_some(length)
}

fn is_rich_enough(rule: &Rule, bytes: &[u8]) -> bool {
    (!rule.digit || bytes.iter().any(u8::is_ascii_digit))
        && (rule.floor_tenths == 0 || entropy(bytes) * 10.0 >= f32::from(rule.floor_tenths))
}

/// Bits per byte, by how often each byte occurs.
pub(super) fn entropy(bytes: &[u8]) -> f32 {
    let mut counts = [0_u16; 256];
    for &b in bytes.iter().take(512) {
        counts[usize::from(b)] += 1;
    }
    let total = bytes.len().min(512) as f32;
    counts
        .iter()
        .filter(|&&n| n > 0)
        .map(|&n| f32::from(n) / total)
        .map(|p| -p * p.log2())
        .sum()
}

/// Whether a word begins at `at`: the byte before is no part of one, or is the end of an escape
/// (`\n`, `%3D`, a terminal's colour) that only looks like a letter.
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

/// `ESC [ 1 ; 32 m`
fn ends_a_colour(before: &[u8]) -> bool {
    let digits = before[..before.len() - 1]
        .iter()
        .rev()
        .take(12)
        .take_while(|b| b.is_ascii_digit() || **b == b';')
        .count();
    before[..before.len() - 1 - digits].ends_with(b"\x1B[")
}
