//! Which of a query's terms a text contains, and how close together.
//!
//! Texts are long and queries short, so a word is stemmed only if it begins like one of the
//! query's stems.

use std::cell::RefCell;
use std::collections::HashMap;

use super::stem::stem;
use super::terms;
use crate::store::pieces;

/// On so many first bytes a stem agrees with its words: rules rewrite the last two of a long one,
/// and the last of a short one.
pub(super) fn same_start(stem: &[u8]) -> usize {
    let all = stem.len();
    all.saturating_sub(2).max(all.saturating_sub(1).min(3))
}

/// Terms that stand within so many words were said of one thing. Of 12, 24 and 48 the narrowest
/// ranked commits best and was level elsewhere.
const TOGETHER_WORDS: u32 = 12;

/// The query's stems, each with how telling it is, in the order they were typed.
#[derive(Debug)]
pub struct Wanted {
    stems: Vec<(String, f64)>,
    /// Of each first byte, whether any stem begins with it.
    starts: [bool; 256],
    ascii_only: bool,
    /// Words that had to be looked at closely: texts of one project repeat each other's.
    met: RefCell<HashMap<Box<str>, Option<usize>>>,
}

/// How often the query's terms stand in a text, and how long it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    /// Of each stem, weighed by the field it stands in.
    pub times: Vec<f64>,
    pub words: u32,
}

/// A row's text, read with a query in mind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    pub coverage: Coverage,
    pub whole: Counted,
    /// Of a text of several, its passages.
    pub passages: Vec<Counted>,
    /// Of each stem that is present, the word as it stands there.
    pub words: Vec<String>,
    /// Words in title and body.
    pub length: usize,
}

/// What one text has of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Which of the stems, by their place in the query.
    pub present: Vec<usize>,
    /// Share of the query's telling terms that the text contains, 0 to 1.
    pub share: f64,
    /// Share of the query's neighbouring pairs that stand close together in the text, 0 to 1.
    pub closeness: f64,
    /// The largest share that stands within a few words of each other, 0 to 1.
    pub together: f64,
}

impl Wanted {
    pub fn new(stems: Vec<(String, f64)>) -> Self {
        let mut starts = [false; 256];
        for (stem, _) in &stems {
            if let Some(&first) = stem.as_bytes().first() {
                starts[usize::from(first)] = true;
            }
        }
        let ascii_only = stems.iter().all(|(stem, _)| stem.is_ascii());
        Self {
            stems,
            starts,
            ascii_only,
            met: RefCell::default(),
        }
    }

    /// How telling each stem is.
    pub fn weights(&self) -> Vec<f64> {
        self.stems.iter().map(|(_, weight)| *weight).collect()
    }

    pub fn into_stems(self) -> Vec<(String, f64)> {
        self.stems
    }

    /// Reads a row's fields as if they stood one after another; `weights` are those of the title, the
    /// body, the tags and the identifiers taken apart.
    pub fn read(&self, fields: [&str; 4], weights: [f64; 4]) -> Reading {
        let [title, body, tags, split] = fields;
        let [of_title, of_body, of_tags, of_split] = weights;
        let mut scan = Scan::new(self.stems.len());
        scan.field(self, title, of_title);
        let mut passages = Vec::new();
        let mut before = scan.counted.clone();
        for piece in pieces(body) {
            scan.text(self, piece, of_body);
            passages.push(scan.counted.since(&before));
            before.clone_from(&scan.counted);
        }
        scan.end_field();
        let length = scan.counted.words as usize;
        scan.field(self, tags, of_tags);
        scan.field(self, split, of_split);
        if passages.len() < 2 {
            passages.clear();
        }
        Reading {
            coverage: self.covered(&scan.places),
            whole: scan.counted,
            passages,
            words: scan.words.into_iter().flatten().collect(),
            length,
        }
    }

    fn covered(&self, places: &[Vec<u32>]) -> Coverage {
        let all: f64 = self.stems.iter().map(|(_, weight)| weight).sum();
        let present: Vec<usize> = (0..places.len())
            .filter(|&at| !places[at].is_empty())
            .collect();
        let covered: f64 = present.iter().map(|&at| self.stems[at].1).sum();
        Coverage {
            share: if all > 0.0 { covered / all } else { 0.0 },
            closeness: self.closeness(places),
            together: if all > 0.0 {
                self.together(places) / all
            } else {
                0.0
            },
            present,
        }
    }

    fn find(&self, word: &str) -> Option<usize> {
        let bytes = word.as_bytes();
        if word.is_ascii() {
            if !self.starts[usize::from(bytes[0].to_ascii_lowercase())] {
                return None;
            }
            let alike = |stem: &[u8]| {
                let same = same_start(stem);
                bytes.len() >= same && bytes[..same].eq_ignore_ascii_case(&stem[..same])
            };
            if !self.stems.iter().any(|(stem, _)| alike(stem.as_bytes())) {
                return None;
            }
        } else if self.ascii_only && !word.chars().any(|c| c.is_ascii_alphabetic()) {
            return None;
        }
        let mut met = self.met.borrow_mut();
        if let Some(&known) = met.get(word) {
            return known;
        }
        let stemmed = stem(&terms::fold(word));
        let found = self.stems.iter().position(|(stem, _)| *stem == stemmed);
        met.insert(word.into(), found);
        found
    }

    /// The most that terms within any run of [`TOGETHER_WORDS`] weigh.
    fn together(&self, places: &[Vec<u32>]) -> f64 {
        let mut all: Vec<(u32, usize)> = places
            .iter()
            .enumerate()
            .flat_map(|(at, places)| places.iter().map(move |&place| (place, at)))
            .collect();
        all.sort_unstable();
        let mut inside = vec![0_u32; self.stems.len()];
        let (mut sum, mut best, mut first) = (0.0_f64, 0.0_f64, 0);
        for &(place, at) in &all {
            while all[first].0 + TOGETHER_WORDS <= place {
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

    /// Pairs that follow each other in the query, weighed by the rarer of the two.
    fn closeness(&self, places: &[Vec<u32>]) -> f64 {
        let (mut close, mut all) = (0.0, 0.0);
        for at in 1..self.stems.len() {
            let weight = self.stems[at - 1].1.min(self.stems[at].1);
            all += weight;
            if nearest(&places[at - 1], &places[at]).is_some_and(|distance| distance <= 3) {
                close += weight;
            }
        }
        if all > 0.0 { close / all } else { 0.0 }
    }
}

impl Counted {
    /// What came after `earlier`.
    fn since(&self, earlier: &Self) -> Self {
        let times = self.times.iter().zip(&earlier.times);
        Self {
            times: times.map(|(now, then)| now - then).collect(),
            words: self.words - earlier.words,
        }
    }
}

/// What has been seen so far of a text that is being read.
struct Scan {
    place: u32,
    places: Vec<Vec<u32>>,
    /// Of each stem, the word that had it first.
    words: Vec<Option<String>>,
    counted: Counted,
}

impl Scan {
    fn new(stems: usize) -> Self {
        Self {
            place: 0,
            places: vec![Vec::new(); stems],
            words: vec![None; stems],
            counted: Counted {
                times: vec![0.0; stems],
                words: 0,
            },
        }
    }

    fn field(&mut self, wanted: &Wanted, text: &str, weight: f64) {
        self.text(wanted, text, weight);
        self.end_field();
    }

    /// Words of different fields do not stand close together.
    fn end_field(&mut self) {
        self.place += 100;
    }

    fn text(&mut self, wanted: &Wanted, text: &str, weight: f64) {
        for word in text.split(|c: char| !c.is_alphanumeric()) {
            if word.is_empty() {
                continue;
            }
            self.place += 1;
            self.counted.words += 1;
            if let Some(at) = wanted.find(word) {
                self.places[at].push(self.place);
                self.words[at].get_or_insert_with(|| word.to_lowercase());
                self.counted.times[at] += weight;
            }
        }
    }
}

/// The least distance between two sorted lists of places.
fn nearest(a: &[u32], b: &[u32]) -> Option<u32> {
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
