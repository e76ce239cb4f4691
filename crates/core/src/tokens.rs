//! Estimates the token count of a text without a provider's tokenizer.
//!
//! The whole project uses this one estimator, so that reservations before a call, the reading cost
//! in an index line and the context budget are in the same unit. It overestimates slightly, because
//! a budget that is too careful does no harm.

/// Four Latin letters make a token; a Chinese character costs one and a half. Counted in quarters,
/// which avoids floating point and guarantees that a text costs no less than its parts.
const QUARTERS: u64 = 4;

/// The estimated tokens of a text: 0 for empty text, otherwise at least 1.
pub fn estimate(text: &str) -> u32 {
    let quarters: u64 = text.chars().map(quarters).sum();
    u32::try_from(quarters.div_ceil(QUARTERS)).unwrap_or(u32::MAX)
}

/// The cost of one character, by script. Tokenizer vocabularies are built mostly from English, so
/// words in other alphabets break into shorter tokens, and scripts with thousands of characters
/// into single characters.
const fn quarters(c: char) -> u64 {
    match c {
        'a'..='z' | 'A'..='Z' | ' ' | '\n' | '\t' | '\r' => 1,
        // Digits and punctuation, which is why source code costs more than prose; accented Latin,
        // Greek, Cyrillic, Hebrew, Arabic.
        '\0'..='\u{7ff}' => 2,
        // Hangul, kana, Han and their punctuation, full-width forms.
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{ffff}' => 6,
        // Scripts of South and South-East Asia, typographic signs, arrows, box drawing.
        '\u{800}'..='\u{2e7f}' => 4,
        // Emoji and everything rare: encoded byte by byte.
        _ => 10,
    }
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
