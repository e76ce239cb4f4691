//! The beginning of a word, in an index of stems.
//!
//! `configurat*` begins `configuration`, which the index has as `configur`. So endings that the
//! stemmer takes off are put on, and what comes out shorter than what was typed is looked up too.

use super::stem::stem;
use super::terms::fold;

/// Endings that English words have and stems have not.
const ENDINGS: &[&str] = &[
    "s", "es", "ed", "er", "ers", "ing", "ings", "ies", "ied", "y", "e", "ly", "al", "ally", "ic",
    "ical", "ically", "ics", "ate", "ated", "ates", "ating", "ation", "ations", "ational", "ative",
    "atively", "ator", "ators", "ion", "ions", "ional", "ionally", "icate", "icated", "icates",
    "icating", "ication", "ications", "able", "ably", "ible", "ability", "ibility", "ance",
    "ances", "ence", "ences", "ant", "ent", "ently", "ment", "ments", "ement", "ements", "ness",
    "ful", "fully", "fulness", "ive", "ively", "iveness", "ivity", "ity", "ities", "ism", "ist",
    "ists", "ize", "ized", "izes", "izer", "izers", "izing", "ization", "izations", "ous", "ously",
    "ousness",
];
/// Of a stem that is looked up.
const STEM_LETTERS_MIN: usize = 2;

/// Words that begin with `typed` and whose stems do not, one of each stem.
pub(super) fn beginnings(typed: &str) -> Vec<String> {
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
    fn however_much_of_a_word_is_typed_its_stem_is_looked_up() {
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
                    || beginnings(typed).iter().any(|other| stem(other) == indexed);
                assert!(finds, "{typed}* of {word}, which is {indexed}");
            }
        }
    }

    #[test]
    fn no_other_words_are_looked_up() {
        for typed in ["therefor", "the", "auth", "log"] {
            for word in beginnings(typed) {
                assert!(word.starts_with(typed), "{word} for {typed}*");
            }
        }
    }
}
