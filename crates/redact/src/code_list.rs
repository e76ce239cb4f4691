//! Finds backup codes and recovery keys: groups of letters and digits joined by dashes.

use super::class;
use super::rules::RuleId;

const ACCESS_CODE: RuleId = RuleId::named("access-code");
/// How far after its name the first code may start.
const GAP_BYTES_MAX: usize = 24;
/// Maximum number of codes of a list.
const CODES_MAX: usize = 40;

/// The codes after their name, which ends at `end`.
pub(super) fn secret_at(bytes: &[u8], end: usize) -> Option<(usize, usize, RuleId)> {
    let joint = |b: &&u8| b.is_ascii_whitespace() || b":=*`\"'-".contains(b);
    let gap = bytes[end..].iter().take(GAP_BYTES_MAX).take_while(joint).count();
    let start = end + gap;
    let (mut here, mut stop) = (start, start);
    for _ in 0..CODES_MAX {
        let length = class::run(&bytes[here..], class::URL, 80);
        if !is_code(&bytes[here..here + length]) {
            break;
        }
        stop = here + length;
        here = stop
            + bytes[stop..]
                .iter()
                .take(6)
                .take_while(|b| b.is_ascii_whitespace() || b",*-`".contains(b))
                .count();
    }
    (gap > 0 && stop > start).then_some((start, stop, ACCESS_CODE))
}

/// Whether these are at least two groups of four to eight letters and digits.
fn is_code(word: &[u8]) -> bool {
    let digits = word.iter().filter(|b| b.is_ascii_digit()).count();
    let group = |part: &[u8]| (4..=8).contains(&part.len()) && part.iter().all(u8::is_ascii_alphanumeric);
    word.contains(&b'-') && digits >= 2 && word.split(|b| *b == b'-').all(group)
}
