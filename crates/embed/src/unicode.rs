//! Character properties for an uncased tokenizer without accents.
//!
//! `cargo xtask unicode` generates the tables; they hold the part of Unicode that the standard
//! library lacks.

use crate::unicode_table::{DROPPED, FOLDS, FOLDS_LONG, PUNCTUATION};

/// Whether a character is dropped: control, format, private-use and combining characters, and the
/// replacement character.
pub(crate) fn is_dropped(c: char) -> bool {
    !matches!(c, '\t' | '\n' | '\r') && in_ranges(DROPPED, c)
}

/// Whether a character is punctuation, always a token of its own.
pub(crate) fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { in_ranges(PUNCTUATION, c) }
}

/// Whether a character is an ideograph, a word by itself. Kana and Hangul are not.
pub(crate) fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c),
        0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x2_A6DF
        | 0x2_A700..=0x2_B81F | 0x2_B920..=0x2_CEAF | 0x2_F800..=0x2_FA1F)
}

/// Calls `take` for each character of the lower-case form without accents: usually one, for
/// composed Hangul its two or three letters.
pub(crate) fn fold(c: char, mut take: impl FnMut(char)) {
    let code = u32::from(c);
    if let Some(syllable) = code.checked_sub(HANGUL_FIRST).filter(|s| *s < HANGUL_COUNT) {
        hangul(syllable).into_iter().flatten().for_each(take);
    } else if let Ok(at) = FOLDS.binary_search_by_key(&code, |fold| fold.0) {
        char::from_u32(FOLDS[at].1).into_iter().for_each(take);
    } else if let Ok(at) = FOLDS_LONG.binary_search_by_key(&code, |fold| fold.0) {
        let codes = FOLDS_LONG[at].1.into_iter().filter(|code| *code != 0);
        codes.filter_map(char::from_u32).for_each(take);
    } else {
        c.to_lowercase().for_each(&mut take);
    }
}

const HANGUL_FIRST: u32 = 0xAC00;
const HANGUL_COUNT: u32 = 19 * 21 * 28;

/// The letters of a Hangul syllable; Unicode arranges all 11,172 systematically.
fn hangul(syllable: u32) -> [Option<char>; 3] {
    let (lead, vowel, tail) = (syllable / (21 * 28), syllable / 28 % 21, syllable % 28);
    let tail = (tail > 0).then_some(0x11A7 + tail);
    [Some(0x1100 + lead), Some(0x1161 + vowel), tail].map(|code| code.and_then(char::from_u32))
}

fn in_ranges(ranges: &[(u32, u32)], c: char) -> bool {
    let code = u32::from(c);
    let after = ranges.partition_point(|range| range.0 <= code);
    after > 0 && code <= ranges[after - 1].1
}
