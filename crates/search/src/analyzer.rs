//! The text analyzer: splits, folds and stems text exactly as FTS5's `unicode61` and `porter` do.
//!
//! Ranking recomputes term frequencies from the stored text, so a term must come out of the analyzer
//! as it stands in the index. `fold_table.txt` holds the bundled SQLite's answers for every code
//! point; a test compares them all.

use std::sync::LazyLock;

use super::stem::stem;

/// The folded words of a text, in order.
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| matches!(classify(c), CharClass::Separator))
        .map(fold)
        .filter(|word| !word.is_empty())
}

/// The distinct stems of a text.
pub fn stems(text: &str) -> std::collections::HashSet<String> {
    words(text).map(|word| stem(&word)).collect()
}

/// Lower-cases a word and strips its accents.
pub fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(word.len());
    for c in word.chars() {
        match classify(c) {
            CharClass::Token(letter) => folded.push(letter),
            CharClass::Mark => {}
            CharClass::Separator => folded.push(c),
        }
    }
    folded
}

/// What the tokenizer makes of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharClass {
    /// Part of a token, as this character.
    Token(char),
    /// A combining mark: dropped, without ending the token.
    Mark,
    Separator,
}

fn classify(c: char) -> CharClass {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() {
            CharClass::Token(c.to_ascii_lowercase())
        } else {
            CharClass::Separator
        };
    }
    let table = &*FOLD_TABLE;
    if contains(&table.marks, c) {
        CharClass::Mark
    } else if contains(&table.tokens, c) {
        let fold = table.folds.binary_search_by_key(&c, |(from, _)| *from);
        CharClass::Token(fold.map_or(c, |at| table.folds[at].1))
    } else {
        CharClass::Separator
    }
}

fn contains(ranges: &[(char, char)], c: char) -> bool {
    let at = ranges.partition_point(|(first, _)| *first <= c);
    at > 0 && c <= ranges[at - 1].1
}

/// The tokenizer's tables for characters beyond ASCII, sorted. Ranges include both ends.
#[derive(Debug, Default)]
struct FoldTable {
    tokens: Vec<(char, char)>,
    marks: Vec<(char, char)>,
    folds: Vec<(char, char)>,
}

static FOLD_TABLE: LazyLock<FoldTable> = LazyLock::new(|| FoldTable::parse(include_str!("fold_table.txt")));

impl FoldTable {
    /// Reads lines of a kind (`t`oken range, `m`ark range, `f`old) and two hexadecimal code points.
    /// The file is ours: a line that does not parse is dropped, and the test over all code points
    /// fails.
    fn parse(text: &str) -> Self {
        let mut table = Self::default();
        for line in text.lines() {
            let mut parts = line.split(' ');
            let kind = parts.next();
            let mut code_point =
                || parts.next().and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32);
            let (Some(first), Some(second)) = (code_point(), code_point()) else {
                continue;
            };
            match kind {
                Some("t") => table.tokens.push((first, second)),
                Some("m") => table.marks.push((first, second)),
                Some("f") => table.folds.push((first, second)),
                _ => {}
            }
        }
        table
    }
}

/// Whether this is a stop word: grammar without meaning, dropped from a query that has other words.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Sorted for binary search.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "being", "but", "by", "can", "could", "did", "do", "does", "doing", "done", "for",
    "from", "get", "got", "had", "has", "have", "having", "he", "her", "hers", "him", "his", "how", "i",
    "if", "in", "into", "is", "it", "its", "just", "like", "may", "me", "might", "more", "most", "my", "no",
    "not", "now", "of", "on", "or", "our", "out", "over", "please", "s", "shall", "she", "should", "so",
    "some", "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "to", "too", "up", "us", "very", "was", "we", "were", "what", "when", "where", "which", "while",
    "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

#[cfg(test)]
#[path = "analyzer_tests.rs"]
mod tests;
