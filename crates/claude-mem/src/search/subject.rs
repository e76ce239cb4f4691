//! What a decision is about, and whether another is about the same.

use std::collections::HashSet;

use super::names::{Sureness, names};
use super::stem::stem;
use super::terms::{is_stop_word, words};
use crate::memory::ObservationType;
use crate::store::Observation;

/// Share of an earlier rule's words that one about the same subject takes up again, in percent,
/// and how many these are at least.
pub(crate) const AMENDED_PERCENT_MIN: usize = 35;
const SHARED_WORDS_MIN: usize = 6;

/// What a decision is about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subject {
    words: HashSet<String>,
    names: HashSet<String>,
}

impl Subject {
    pub(crate) fn of(row: &Observation) -> Self {
        let mut found = HashSet::new();
        for text in texts(row) {
            let sure = names(text)
                .into_iter()
                .filter(|name| name.sureness == Sureness::Sure);
            found.extend(sure.map(|name| name.text));
        }
        Self {
            words: words_of(row),
            names: found,
        }
    }

    /// Whether an older one is about the same.
    pub(crate) fn is_that_of(&self, older: &Self) -> bool {
        let shared = self.shared(older);
        let by_words =
            shared >= SHARED_WORDS_MIN && shared * 100 >= older.words.len() * AMENDED_PERCENT_MIN;
        by_words || (shared >= 2 && !self.names.is_disjoint(&older.names))
    }

    /// How much of the older one this says again, in percent.
    pub(crate) fn restates(&self, older: &Self) -> usize {
        self.shared(older) * 100 / older.words.len().max(1)
    }

    fn shared(&self, other: &Self) -> usize {
        self.words.intersection(&other.words).count()
    }
}

/// Whether two decisions may be about one subject at different times: within one talk they build
/// on each other.
pub(crate) fn is_later(newer: &Observation, older: &Observation) -> bool {
    newer.kind == ObservationType::DECISION
        && older.kind == ObservationType::DECISION
        && newer.session != older.session
        && newer.created_at > older.created_at
}

fn texts(row: &Observation) -> impl Iterator<Item = &str> {
    let texts = [&row.title, &row.narrative].into_iter().chain(&row.facts);
    texts.map(String::as_str)
}

/// What a memory speaks of, wherever in it.
pub(crate) fn words_of(row: &Observation) -> HashSet<String> {
    telling_words(texts(row))
}

pub(crate) fn telling_words<'t>(texts: impl Iterator<Item = &'t str>) -> HashSet<String> {
    texts
        .flat_map(words)
        .filter(|word| word.len() > 2 && !is_stop_word(word) && word != "user" && word != "agent")
        .map(|word| stem(&word))
        .collect()
}
