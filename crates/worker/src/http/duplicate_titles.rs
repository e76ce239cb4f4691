//! Finds memories whose titles have nearly the same words, among all memories of a project.
//!
//! Two titles can only be near-duplicates if one of their rarest words is the same, so only titles that share such
//! a word are compared. [`DuplicateCache`] keeps the result until memories change.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::problem::Problem;
use claude_mem_core::ids::{ObservationId, ProjectId};
use claude_mem_core::sync::lock;
use claude_mem_store::{ChangeCursor, StoreReader, TitleEntry};

/// Share of the words of two titles that makes them near-duplicates, in percent.
const SAME_WORDS_PERCENT: usize = 75;
/// Fewer words than this say too little to be compared.
const TITLE_WORDS_MIN: usize = 4;
/// Titles with the same rare word that one title is compared with, newest first.
const COMPARED_TITLES_MAX: usize = 64;
/// Pairs that are kept.
const PAIRS_MAX: usize = 2_000;
/// A result is kept for at least this many times the time that it took, so that a large store costs a twentieth of
/// one core at most.
const REST_FACTOR: u32 = 20;

/// An older memory and the newest one whose title says nearly the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TitlePair {
    pub(super) older: ObservationId,
    pub(super) newer: ObservationId,
    pub(super) project: Option<ProjectId>,
}

/// The pairs of one moment.
#[derive(Debug)]
struct CachedPairs {
    cursor: ChangeCursor,
    made: Instant,
    took: Duration,
    pairs: Arc<Vec<TitlePair>>,
}

/// The last pairs that were found.
#[derive(Debug, Default)]
pub(super) struct DuplicateCache(Mutex<Option<CachedPairs>>);

impl DuplicateCache {
    /// The pairs, the newest of the older memories first. Pairs of forgotten or replaced memories may be among
    /// them.
    pub(super) fn get_or_find(&self, reads: &StoreReader<'_>) -> Result<Arc<Vec<TitlePair>>, Problem> {
        let cursor = reads.change_cursor()?;
        // Held while comparing: concurrent requests want the same result.
        let mut cached = lock(&self.0);
        if let Some(known) = cached.as_ref()
            && (known.cursor == cursor || known.made.elapsed() < known.took * REST_FACTOR)
        {
            return Ok(Arc::clone(&known.pairs));
        }
        let begun = Instant::now();
        let pairs = Arc::new(similar_titles(&reads.observation_titles()?));
        let made = Instant::now();
        *cached = Some(CachedPairs { cursor, made, took: made - begun, pairs: Arc::clone(&pairs) });
        Ok(pairs)
    }
}

/// One title as the hashes of its words, rarest first.
struct HashedTitle {
    id: ObservationId,
    project: Option<ProjectId>,
    words: Vec<u64>,
}

/// The pairs of titles with nearly the same words, per project.
fn similar_titles(entries: &[TitleEntry]) -> Vec<TitlePair> {
    let mut titles: Vec<HashedTitle> = entries
        .iter()
        .map(|entry| HashedTitle { id: entry.id, project: entry.project, words: word_hashes(&entry.title) })
        .filter(|title| title.words.len() >= TITLE_WORDS_MIN)
        .collect();
    let mut counts: HashMap<u64, u32> = HashMap::new();
    for word in titles.iter().flat_map(|title| &title.words) {
        *counts.entry(*word).or_default() += 1;
    }
    for title in &mut titles {
        title.words.sort_unstable_by_key(|word| (counts.get(word).copied().unwrap_or_default(), *word));
    }
    titles.sort_unstable_by_key(|title| std::cmp::Reverse(title.id));
    let mut by_word: HashMap<(Option<ProjectId>, u64), Vec<usize>> = HashMap::new();
    let mut found = Vec::new();
    for (at, title) in titles.iter().enumerate() {
        // If none of these is in the other title, too few of the rest can be.
        let rare = title.words.len() - (title.words.len() * SAME_WORDS_PERCENT).div_ceil(100) + 1;
        let mut newest: Option<usize> = None;
        for word in &title.words[..rare] {
            let same = by_word.entry((title.project, *word)).or_default();
            let first = same.iter().find(|other| has_same_words(title, &titles[**other]));
            newest = newest.into_iter().chain(first.copied()).min();
            if same.len() < COMPARED_TITLES_MAX {
                same.push(at);
            }
        }
        if let Some(newer) = newest {
            found.push(TitlePair { older: title.id, newer: titles[newer].id, project: title.project });
            if found.len() == PAIRS_MAX {
                break;
            }
        }
    }
    found
}

fn word_hashes(title: &str) -> Vec<u64> {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
    let mut hashes: Vec<u64> = words
        .map(|word| {
            let mut hasher = DefaultHasher::new();
            word.hash(&mut hasher);
            hasher.finish()
        })
        .collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

fn has_same_words(one: &HashedTitle, other: &HashedTitle) -> bool {
    let (few, many) = (one.words.len().min(other.words.len()), one.words.len().max(other.words.len()));
    // No more words can be shared than the shorter title has.
    if few * 100 < many * SAME_WORDS_PERCENT {
        return false;
    }
    let shared = one.words.iter().filter(|word| other.words.contains(word)).count();
    let all = one.words.len() + other.words.len() - shared;
    shared * 100 >= all * SAME_WORDS_PERCENT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: i64, title: &str) -> TitleEntry {
        TitleEntry { id: ObservationId(id), project: Some(ProjectId(1)), title: title.to_lowercase() }
    }

    #[test]
    fn duplicate_is_found_however_old_it_is() {
        let mut entries = vec![entry(1, "The harbour light is always lit at dusk")];
        entries.extend(
            (2..3_000).map(|id| entry(id, &format!("Buoy number{id} was counted near pier{}", id % 7))),
        );
        entries.push(entry(3_000, "The harbour light is always lit at dusk today"));
        let pairs = similar_titles(&entries);
        let wanted =
            TitlePair { older: ObservationId(1), newer: ObservationId(3_000), project: Some(ProjectId(1)) };
        assert_eq!(pairs, [wanted]);
    }

    #[test]
    fn only_titles_of_one_project_with_most_words_in_common_are_pairs() {
        for (one, other, same_project, is_pair) in [
            ("Login loops on an expired cookie", "Login loops on an expired cookie again", true, true),
            ("Login loops on an expired cookie", "Login loops on an expired cookie again", false, false),
            ("Login loops on an expired cookie", "Logout loops on a stale session", true, false),
            ("Fixed it", "Fixed it", true, false),
        ] {
            let mut newer = entry(2, other);
            newer.project = Some(ProjectId(if same_project { 1 } else { 2 }));
            assert_eq!(!similar_titles(&[entry(1, one), newer]).is_empty(), is_pair, "{one} / {other}");
        }
    }
}
