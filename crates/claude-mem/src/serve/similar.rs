//! Whether two memories of one session say the same thing.
//!
//! Pure. It leans towards "no": a repeated line costs a reader a moment, a dropped one is gone.

use std::collections::BTreeSet;

use crate::memory::NewObservation;
use crate::store::Observation;

/// Of the words of both, so many must be in each.
const SHARED_WORDS_PERCENT: usize = 80;

/// What a memory says, reduced to what makes it the same again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    title: Vec<String>,
    words: BTreeSet<String>,
    /// A rule that differs in a number is another rule.
    numbers: BTreeSet<String>,
}

impl Said {
    pub fn of(new: &NewObservation) -> Self {
        Self::new(&new.title, &new.narrative, &new.facts)
    }

    pub fn of_row(row: &Observation) -> Self {
        Self::new(&row.title, &row.narrative, &row.facts)
    }

    fn new(title: &str, narrative: &str, facts: &[String]) -> Self {
        let rest = std::iter::once(narrative).chain(facts.iter().map(String::as_str));
        let title: Vec<String> = words(title).collect();
        let all: BTreeSet<String> = rest.flat_map(words).chain(title.iter().cloned()).collect();
        let is_number = |word: &String| word.bytes().any(|byte| byte.is_ascii_digit());
        let (numbers, words) = all.into_iter().partition(is_number);
        Self {
            title,
            words,
            numbers,
        }
    }

    pub fn is_also_said_by(&self, other: &Self) -> bool {
        if self.numbers != other.numbers {
            return false;
        }
        let shared = self.words.intersection(&other.words).count();
        let all = self.words.len() + other.words.len() - shared;
        self.title == other.title || shared * 100 >= all * SHARED_WORDS_PERCENT
    }
}

/// Words in lower case, without punctuation; a name of code stays whole.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
#[path = "similar_tests.rs"]
mod tests;
