//! Finds decisions about the same subject that say different things, while neither replaces the other.

use std::collections::{HashMap, HashSet};

use claude_mem_search::subject::{DecisionSubject, content_words, may_supersede};
use claude_mem_store::Observation;

/// Words of two titles that must be the same.
const SHARED_WORDS_MIN: usize = 3;
/// Share of the words of the shorter title that must be the same, in percent.
const SHARED_PERCENT_MIN: usize = 60;
/// Share of an older decision's words that a newer one of the same subject repeats, in percent.
const RESTATED_PERCENT_MIN: usize = 50;
/// A word of more decisions than this says nothing about their subjects.
const WORD_DECISIONS_MAX: usize = 64;
/// Words that turn a statement into its opposite.
const NEGATIONS: [&str; 8] = ["not", "never", "no", "don't", "without", "instead", "stop", "avoid"];

/// One decision, prepared for comparison.
struct ComparedDecision<'r> {
    row: &'r Observation,
    words: HashSet<String>,
    is_negated: bool,
    subject: DecisionSubject,
}

impl<'r> ComparedDecision<'r> {
    fn new(row: &'r Observation) -> Self {
        let title = row.text.title.to_lowercase();
        let mut spoken = title.split(|c: char| !c.is_alphanumeric() && c != '\'');
        Self {
            row,
            words: content_words(std::iter::once(row.text.title.as_str())),
            is_negated: spoken.any(|word| NEGATIONS.contains(&word)),
            subject: DecisionSubject::from_observation(row),
        }
    }

    /// Whether this newer decision says something else about the subject of the older one.
    fn contradicts(&self, older: &Self) -> bool {
        let shared = self.words.intersection(&older.words).count();
        let shorter = self.words.len().min(older.words.len());
        let is_near = shared >= SHARED_WORDS_MIN && shared * 100 >= shorter * SHARED_PERCENT_MIN;
        // Each has a word that the other lacks: they differ in what they say, not in how much.
        let differs = shared < self.words.len() && shared < older.words.len();
        if is_near && (differs || self.is_negated != older.is_negated) {
            return true;
        }
        may_supersede(self.row, older.row)
            && self.subject.is_same_subject(&older.subject)
            && self.subject.restated_percent(&older.subject) >= RESTATED_PERCENT_MIN
    }
}

/// Pairs of decisions that contradict each other, as indexes into `rows`: the older one, then the newest one
/// that contradicts it. `rows` are decisions of one project, newest first.
pub(super) fn conflicting_pairs(rows: &[Observation]) -> Vec<(usize, usize)> {
    let known: Vec<ComparedDecision<'_>> = rows.iter().map(ComparedDecision::new).collect();
    let mut by_word: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut found = Vec::new();
    for (at, one) in known.iter().enumerate() {
        let mut newer: Vec<usize> = Vec::new();
        for word in &one.words {
            let same = by_word.entry(word).or_default();
            if same.len() < WORD_DECISIONS_MAX {
                newer.extend(same.iter());
                same.push(at);
            }
        }
        newer.sort_unstable();
        newer.dedup();
        found.extend(newer.into_iter().find(|other| known[*other].contradicts(one)).map(|other| (at, other)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use claude_mem_core::clock::Millis;
    use claude_mem_store::testing::observation;
    use claude_mem_store::{NewRowContext, PageRequest, RowFilter, Store};

    fn decisions(titles: &[&str]) -> Vec<Observation> {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(&temp.path().join("claude-mem.db")).unwrap();
        let place = NewRowContext::default();
        store
            .write(|tx| {
                for (at, title) in titles.iter().enumerate() {
                    tx.create_observation(&observation(title, Millis(at as i64 * 1_000_000)), &place)?;
                }
                Ok(())
            })
            .unwrap();
        store.read().observations(&RowFilter::default(), PageRequest::first(50)).unwrap().items
    }

    #[test]
    fn decisions_that_differ_on_one_subject_conflict() {
        for (older, newer, conflicts) in [
            ("Ferries moor at the south berth", "Ferries moor at the east berth now", true),
            ("Deploy the billing service on Fridays", "Never deploy the billing service on Fridays", true),
            ("Money is stored as cents", "Money is stored as cents in every table", false),
            ("Ferries moor at the south berth", "Tide tables are cached for a day", false),
            ("Tests run in parallel", "Builds run in parallel containers", false),
        ] {
            let rows = decisions(&[older, newer]);
            let pairs = conflicting_pairs(&rows);
            assert_eq!(!pairs.is_empty(), conflicts, "{older} / {newer}: {pairs:?}");
            if conflicts {
                assert_eq!(pairs, [(1, 0)], "the older one is listed beside the newer one");
            }
        }
    }
}
