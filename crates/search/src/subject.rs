//! Compares the subjects of decisions, to find out which newer decision supersedes an older one.

use std::collections::HashSet;

use super::names::{NameConfidence, code_names};
use super::stem::stem;
use crate::analyzer::{is_stop_word, words};
use claude_mem_core::memory::ObservationType;
use claude_mem_store::Observation;

/// Minimum share of the older decision's words that the newer one must repeat, in percent.
pub const AMENDED_PERCENT_MIN: usize = 35;
/// Minimum number of words they must share.
const SHARED_WORDS_MIN: usize = 6;

/// The subject of a decision: its content words and code names.
#[derive(Clone, Debug, Default)]
pub struct DecisionSubject {
    words: HashSet<String>,
    names: HashSet<String>,
}

impl DecisionSubject {
    /// The subject of an observation.
    pub fn from_observation(row: &Observation) -> Self {
        let mut found = HashSet::new();
        for text in texts(row) {
            let sure = code_names(text).into_iter().filter(|name| name.confidence == NameConfidence::Certain);
            found.extend(sure.map(|name| name.text));
        }
        Self { words: observation_words(row), names: found }
    }

    /// Whether an older decision has the same subject: enough shared words, or a shared code name
    /// and two shared words.
    pub fn is_same_subject(&self, older: &Self) -> bool {
        let shared = self.shared_words(older);
        let by_words = shared >= SHARED_WORDS_MIN && shared * 100 >= older.words.len() * AMENDED_PERCENT_MIN;
        by_words || (shared >= 2 && !self.names.is_disjoint(&older.names))
    }

    /// How much of the older decision's words this one repeats, in percent.
    pub fn restated_percent(&self, older: &Self) -> usize {
        self.shared_words(older) * 100 / older.words.len().max(1)
    }

    fn shared_words(&self, other: &Self) -> usize {
        self.words.intersection(&other.words).count()
    }
}

/// Whether `newer` may supersede `older`: both are decisions, of different sessions. Within one
/// session, decisions build on each other. A decision of another member never supersedes one's own.
pub fn may_supersede(newer: &Observation, older: &Observation) -> bool {
    (newer.member.is_none() || newer.member == older.member)
        && newer.text.kind == ObservationType::DECISION
        && older.text.kind == ObservationType::DECISION
        && newer.session != older.session
        && newer.created_at > older.created_at
}

fn texts(row: &Observation) -> impl Iterator<Item = &str> {
    let texts = [&row.text.title, &row.text.narrative].into_iter().chain(&row.text.facts);
    texts.map(String::as_str)
}

/// The content words of an observation's title, narrative and facts.
pub fn observation_words(row: &Observation) -> HashSet<String> {
    content_words(texts(row))
}

/// The distinct stems of texts, without stop words and words of up to two bytes.
pub fn content_words<'t>(texts: impl Iterator<Item = &'t str>) -> HashSet<String> {
    texts
        .flat_map(words)
        .filter(|word| word.len() > 2 && !is_stop_word(word) && word != "user" && word != "agent")
        .map(|word| stem(&word))
        .collect()
}
