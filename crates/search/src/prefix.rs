//! Expands a prefix for an index of stems.
//!
//! `configurat*` should match `configuration`, which is indexed as `configur`. So we append the
//! suffixes that the stemmer strips and also look up words whose stem is shorter than the prefix.

use super::stem::stem;
use crate::analyzer::fold;

/// English suffixes that the Porter stemmer strips.
const ENDINGS: &[&str] = &[
    "s", "es", "ed", "er", "ers", "ing", "ings", "ies", "ied", "y", "e", "ly", "al", "ally", "ic", "ical",
    "ically", "ics", "ate", "ated", "ates", "ating", "ation", "ations", "ational", "ative", "atively",
    "ator", "ators", "ion", "ions", "ional", "ionally", "icate", "icated", "icates", "icating", "ication",
    "ications", "able", "ably", "ible", "ability", "ibility", "ance", "ances", "ence", "ences", "ant", "ent",
    "ently", "ment", "ments", "ement", "ements", "ness", "ful", "fully", "fulness", "ive", "ively",
    "iveness", "ivity", "ity", "ities", "ism", "ist", "ists", "ize", "ized", "izes", "izer", "izers",
    "izing", "ization", "izations", "ous", "ously", "ousness",
];
/// Minimum length of a stem to look up.
const STEM_LETTERS_MIN: usize = 2;

/// Words that start with `typed` but whose stems do not, one per stem.
pub(super) fn prefix_expansions(typed: &str) -> Vec<String> {
    let typed = fold(typed);
    if !typed.is_ascii() || typed.contains('_') {
        return Vec::new();
    }
    let mut stems = std::collections::HashSet::new();
    let mut words = Vec::new();
    for at in STEM_LETTERS_MIN.min(typed.len())..=typed.len() {
        let (trunk, begun) = typed.split_at(at);
        for ending in ENDINGS.iter().filter(|ending| ending.starts_with(begun)) {
            let word = format!("{trunk}{ending}");
            let stem = stem(&word);
            let is_shorter = !stem.starts_with(&typed) && stem.len() >= STEM_LETTERS_MIN;
            if is_shorter && stems.insert(stem) {
                words.push(word);
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_reaches_the_stem() {
        for word in [
            "configuration",
            "authentication",
            "validation",
            "running",
            "libraries",
            "requirement",
            "settings",
            "responsiveness",
            "initialization",
            "possibly",
            "middleware",
        ] {
            let indexed = stem(word);
            for letters in 3..=word.len() {
                let typed = &word[..letters];
                let finds = indexed.starts_with(typed)
                    || prefix_expansions(typed).iter().any(|other| stem(other) == indexed);
                assert!(finds, "{typed}* of {word}, which is {indexed}");
            }
        }
    }

    #[test]
    fn expansions_start_with_the_prefix() {
        for typed in ["therefor", "the", "auth", "log"] {
            for word in prefix_expansions(typed) {
                assert!(word.starts_with(typed), "{word} for {typed}*");
            }
        }
    }
}
