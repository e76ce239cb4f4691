//! Detects duplicate observations within one session, and joins them.
//!
//! Pure. [`ObservationFingerprint`] prefers to keep both: a repeated line costs a reader a moment,
//! a dropped one is lost.

use std::collections::BTreeSet;

use claude_mem_core::memory::{ConsolidatedObservation, NewObservation, Origin};
use claude_mem_search::analyzer::words;
use claude_mem_search::restated_rows;
use claude_mem_search::statement::Statement;
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

/// Observations of one session that say the same are one, with the claims of all.
pub(crate) fn join_duplicates(made: &[ConsolidatedObservation]) -> Vec<ConsolidatedObservation> {
    let mut joined: Vec<(ObservationFingerprint, ConsolidatedObservation)> = Vec::new();
    for made in made {
        let said = ObservationFingerprint::from_new(&made.observation);
        let is_same = |(earlier, known): &&mut (ObservationFingerprint, ConsolidatedObservation)| {
            said.is_duplicate_of(earlier) || states_same(&known.observation, &made.observation)
        };
        match joined.iter_mut().find(is_same) {
            Some((_, earlier)) => {
                let added = made.claims.iter().filter(|claim| !earlier.claims.contains(claim));
                let added: Vec<String> = added.cloned().collect();
                earlier.claims.extend(added);
                // The user's own words stay, and stay the user's.
                let (known, new) = (&earlier.observation, &made.observation);
                let form = (&known.text.kind, known.origin);
                if restated_rows::stronger(form, (&new.text.kind, new.origin)) != form {
                    earlier.observation = made.observation.clone();
                }
            }
            None => joined.push((said, made.clone())),
        }
    }
    joined.into_iter().map(|(_, made)| made).collect()
}

/// Whether the user stated the same twice.
fn states_same(one: &NewObservation, other: &NewObservation) -> bool {
    let statement = |new: &NewObservation| Statement::parse(&new.text.title);
    (one.origin, other.origin) == (Origin::User, Origin::User)
        && one.text.kind == other.text.kind
        && statement(one).zip(statement(other)).is_some_and(|(one, other)| one.says_same(&other))
}

#[cfg(test)]
#[path = "dedup_tests.rs"]
mod tests;
