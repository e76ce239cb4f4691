//! How many tokens a text costs, as near as one can say without a provider's tokenizer.
//!
//! There is one estimator for the whole project: what is reserved before a call, what an index
//! line says a memory costs to read and what fits into the context all mean the same unit.
//! It leans to the high side, because a budget that is a little too careful annoys nobody.

/// Four Latin letters make a token; a Chinese character costs one and a half. Counted in
/// quarters, so that it needs no floating point and a text costs no less than its parts.
const QUARTERS: u64 = 4;

/// The estimated tokens of a text. Empty text costs nothing, any other at least one.
pub fn estimate(text: &str) -> u32 {
    let quarters: u64 = text.chars().map(quarters).sum();
    u32::try_from(quarters.div_ceil(QUARTERS)).unwrap_or(u32::MAX)
}

/// What one character adds. Scripts are told apart by how their words break into tokens:
/// vocabularies are built mostly from English, so other alphabets break into shorter pieces,
/// and a script with thousands of characters into pieces of single ones.
const fn quarters(c: char) -> u64 {
    match c {
        'a'..='z' | 'A'..='Z' | ' ' | '\n' | '\t' | '\r' => 1,
        // Digits and punctuation, which is why source text costs more than prose; Latin with
        // accents, Greek, Cyrillic, Hebrew, Arabic.
        '\0'..='\u{7ff}' => 2,
        // Hangul, kana, Han and their punctuation, full-width forms.
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{ffff}' => 6,
        // Scripts of South and South-East Asia, typographic signs, arrows, box drawing.
        '\u{800}'..='\u{2e7f}' => 4,
        // Emoji and everything rare: spelt out byte by byte.
        _ => 10,
    }
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
