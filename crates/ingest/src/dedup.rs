//! Detects duplicate observations within one session.
//!
//! Pure. [`ObservationFingerprint`] prefers to keep both: a repeated line costs a reader a moment,
//! a dropped one is lost.

use std::collections::BTreeSet;

use claude_mem_core::memory::NewObservation;
use claude_mem_search::analyzer::words;
use claude_mem_store::Observation;

/// Share of all words of two observations that both must contain (Jaccard index, in percent).
const SHARED_WORDS_PERCENT: usize = 80;

/// The words and numbers of an observation, for comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObservationFingerprint {
    title: Vec<String>,
    words: BTreeSet<String>,
    /// Kept apart from the words: a rule that differs in a number is another rule.
    numbers: BTreeSet<String>,
}

impl ObservationFingerprint {
    pub(crate) fn from_new(new: &NewObservation) -> Self {
        Self::new(&new.text.title, &new.text.narrative, &new.text.facts)
    }

    pub(crate) fn from_row(row: &Observation) -> Self {
        Self::new(&row.text.title, &row.text.narrative, &row.text.facts)
    }

    fn new(title: &str, narrative: &str, facts: &[String]) -> Self {
        let rest = std::iter::once(narrative).chain(facts.iter().map(String::as_str));
        let title: Vec<String> = words(title).collect();
        let all: BTreeSet<String> = rest.flat_map(words).chain(title.iter().cloned()).collect();
        let is_number = |word: &String| word.bytes().any(|byte| byte.is_ascii_digit());
        let (numbers, words) = all.into_iter().partition(is_number);
        Self { title, words, numbers }
    }

    /// Whether both state the same: equal numbers, and an equal title or mostly the same words.
    pub(crate) fn is_duplicate_of(&self, other: &Self) -> bool {
        if self.numbers != other.numbers {
            return false;
        }
        self.title == other.title || self.shared_percent(other) >= SHARED_WORDS_PERCENT
    }

    /// The share of all words that both contain, in percent.
    pub(crate) fn shared_percent(&self, other: &Self) -> usize {
        let shared = self.words.intersection(&other.words).count();
        shared * 100 / (self.words.len() + other.words.len() - shared).max(1)
    }
}

#[cfg(test)]
#[path = "dedup_tests.rs"]
mod tests;
