//! Term statistics of one document for one query: frequencies, coverage and proximity.
//!
//! [`TermMatcher`] scans a text and returns [`DocumentStats`]. Texts are long and queries short, so
//! a word is stemmed only if it starts like one of the query's stems.

use std::cell::RefCell;
use std::collections::HashMap;

use super::stem::stem;
use crate::analyzer;
use claude_mem_store::passages;

/// How many leading bytes a stem shares with its words: the rules rewrite the last two bytes of a
/// long stem and the last byte of a short one.
pub(super) fn stable_prefix_len(stem: &[u8]) -> usize {
    let all = stem.len();
    all.saturating_sub(2).max(all.saturating_sub(1).min(3))
}

/// Window for proximity, in words. Of 12, 24 and 48, the narrowest ranked commits best and made no
/// difference elsewhere.
const PROXIMITY_WINDOW_WORDS: u32 = 12;

/// The query's stems with their IDF weights, in typed order.
#[derive(Debug)]
pub struct TermMatcher {
    stems: Vec<(String, f64)>,
    /// For each byte, whether a stem starts with it.
    first_bytes: [bool; 256],
    ascii_only: bool,
    /// Cache of words that had to be stemmed; texts of one project repeat each other's words.
    lookups: RefCell<HashMap<Box<str>, Option<usize>>>,
}

/// Term frequencies and length of one text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TermFreqs {
    /// Frequency of each stem, weighted by field.
    pub freqs: Vec<f64>,
    /// Length in words.
    pub words: u32,
}

/// Statistics of one document for one query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentStats {
    pub coverage: TermCoverage,
    /// Term frequencies of the whole document.
    pub whole: TermFreqs,
    /// Term frequencies per passage; empty if there is only one.
    pub passages: Vec<TermFreqs>,
    /// For each matched stem, the word as it occurs in the text.
    pub matched_words: Vec<String>,
    /// Words in title and body.
    pub length: usize,
}

/// How much of a query a document contains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TermCoverage {
    /// Indices of the matched stems.
    pub present: Vec<usize>,
    /// IDF-weighted share of the query's terms it contains, 0 to 1.
    pub share: f64,
    /// Weighted share of the query's adjacent pairs that are close together here, 0 to 1.
    pub adjacency: f64,
    /// The largest weighted share of terms within one proximity window, 0 to 1.
    pub proximity: f64,
}

impl TermMatcher {
    /// A matcher for these stems and weights.
    pub fn new(stems: Vec<(String, f64)>) -> Self {
        let mut first_bytes = [false; 256];
        for (stem, _) in &stems {
            if let Some(&first) = stem.as_bytes().first() {
                first_bytes[usize::from(first)] = true;
            }
        }
        let ascii_only = stems.iter().all(|(stem, _)| stem.is_ascii());
        Self { stems, first_bytes, ascii_only, lookups: RefCell::default() }
    }

    /// The weight of each stem.
    pub fn weights(&self) -> Vec<f64> {
        self.stems.iter().map(|(_, weight)| *weight).collect()
    }

    /// The stems with their weights.
    pub fn into_stems(self) -> Vec<(String, f64)> {
        self.stems
    }

    /// Scans a row's fields as one text. `weights` apply to title, body, tags and split
    /// identifiers.
    pub fn read(&self, fields: [&str; 4], weights: [f64; 4]) -> DocumentStats {
        let [title, body, tags, split] = fields;
        let [of_title, of_body, of_tags, of_split] = weights;
        let mut scan = DocumentScan::new(self.stems.len());
        scan.field(self, title, of_title);
        let mut per_passage = Vec::new();
        let mut before = scan.freqs.clone();
        for piece in passages(body) {
            scan.text(self, piece, of_body);
            per_passage.push(scan.freqs.minus(&before));
            before.clone_from(&scan.freqs);
        }
        scan.end_field();
        let length = scan.freqs.words as usize;
        scan.field(self, tags, of_tags);
        scan.field(self, split, of_split);
        if per_passage.len() < 2 {
            per_passage.clear();
        }
        DocumentStats {
            coverage: self.coverage(&scan.positions),
            whole: scan.freqs,
            passages: per_passage,
            matched_words: scan.words.into_iter().flatten().collect(),
            length,
        }
    }

    /// Coverage from the positions of each stem.
    fn coverage(&self, places: &[Vec<u32>]) -> TermCoverage {
        let all: f64 = self.stems.iter().map(|(_, weight)| weight).sum();
        let present: Vec<usize> = (0..places.len()).filter(|&at| !places[at].is_empty()).collect();
        let covered: f64 = present.iter().map(|&at| self.stems[at].1).sum();
        TermCoverage {
            share: if all > 0.0 { covered / all } else { 0.0 },
            adjacency: self.adjacency(places),
            proximity: if all > 0.0 { self.proximity_weight(places) / all } else { 0.0 },
            present,
        }
    }

    /// The index of the stem that this word has, if any.
    fn find_term(&self, word: &str) -> Option<usize> {
        let bytes = word.as_bytes();
        if word.is_ascii() {
            if !self.first_bytes[usize::from(bytes[0].to_ascii_lowercase())] {
                return None;
            }
            let alike = |stem: &[u8]| {
                let same = stable_prefix_len(stem);
                bytes.len() >= same && bytes[..same].eq_ignore_ascii_case(&stem[..same])
            };
            if !self.stems.iter().any(|(stem, _)| alike(stem.as_bytes())) {
                return None;
            }
        } else if self.ascii_only && !word.chars().any(|c| c.is_ascii_alphabetic()) {
            return None;
        }
        let mut met = self.lookups.borrow_mut();
        if let Some(&known) = met.get(word) {
            return known;
        }
        let stemmed = stem(&analyzer::fold(word));
        let found = self.stems.iter().position(|(stem, _)| *stem == stemmed);
        met.insert(word.into(), found);
        found
    }

    /// The largest total weight of distinct terms within any window of [`PROXIMITY_WINDOW_WORDS`].
    fn proximity_weight(&self, places: &[Vec<u32>]) -> f64 {
        let mut all: Vec<(u32, usize)> = places
            .iter()
            .enumerate()
            .flat_map(|(at, places)| places.iter().map(move |&place| (place, at)))
            .collect();
        all.sort_unstable();
        let mut inside = vec![0_u32; self.stems.len()];
        let (mut sum, mut best, mut first) = (0.0_f64, 0.0_f64, 0);
        for &(place, at) in &all {
            while all[first].0 + PROXIMITY_WINDOW_WORDS <= place {
                let left = all[first].1;
                inside[left] -= 1;
                if inside[left] == 0 {
                    sum -= self.stems[left].1;
                }
                first += 1;
            }
            inside[at] += 1;
            if inside[at] == 1 {
                sum += self.stems[at].1;
            }
            best = best.max(sum);
        }
        best
    }

    /// Weighted share of adjacent query pairs within three words of each other; a pair weighs as
    /// much as its more common term.
    fn adjacency(&self, places: &[Vec<u32>]) -> f64 {
        let (mut close, mut all) = (0.0, 0.0);
        for at in 1..self.stems.len() {
            let weight = self.stems[at - 1].1.min(self.stems[at].1);
            all += weight;
            if min_distance(&places[at - 1], &places[at]).is_some_and(|distance| distance <= 3) {
                close += weight;
            }
        }
        if all > 0.0 { close / all } else { 0.0 }
    }
}

impl TermFreqs {
    /// The difference to an earlier state of the same scan.
    fn minus(&self, earlier: &Self) -> Self {
        let times = self.freqs.iter().zip(&earlier.freqs);
        Self { freqs: times.map(|(now, then)| now - then).collect(), words: self.words - earlier.words }
    }
}

/// State of a scan through one document.
struct DocumentScan {
    position: u32,
    positions: Vec<Vec<u32>>,
    /// For each stem, the first word that matched it.
    words: Vec<Option<String>>,
    freqs: TermFreqs,
}

impl DocumentScan {
    fn new(stems: usize) -> Self {
        Self {
            position: 0,
            positions: vec![Vec::new(); stems],
            words: vec![None; stems],
            freqs: TermFreqs { freqs: vec![0.0; stems], words: 0 },
        }
    }

    /// Scans one field.
    fn field(&mut self, wanted: &TermMatcher, text: &str, weight: f64) {
        self.text(wanted, text, weight);
        self.end_field();
    }

    /// Separates fields, so that terms of different fields are never in proximity.
    fn end_field(&mut self) {
        self.position += 100;
    }

    /// Scans a part of a field.
    fn text(&mut self, wanted: &TermMatcher, text: &str, weight: f64) {
        for word in text.split(|c: char| !c.is_alphanumeric()) {
            if word.is_empty() {
                continue;
            }
            self.position += 1;
            self.freqs.words += 1;
            if let Some(at) = wanted.find_term(word) {
                self.positions[at].push(self.position);
                self.words[at].get_or_insert_with(|| word.to_lowercase());
                self.freqs.freqs[at] += weight;
            }
        }
    }
}

/// The smallest distance between two sorted lists of positions.
fn min_distance(a: &[u32], b: &[u32]) -> Option<u32> {
    let (mut i, mut j, mut best) = (0, 0, None::<u32>);
    while i < a.len() && j < b.len() {
        let distance = a[i].abs_diff(b[j]);
        best = Some(best.map_or(distance, |best| best.min(distance)));
        if a[i] < b[j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    best
}

#[cfg(test)]
#[path = "coverage_tests.rs"]
mod tests;
