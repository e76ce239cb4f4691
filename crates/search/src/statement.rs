//! Compares statements: whether two sentences state the same rule or fact, however they are introduced.
//!
//! Pure. Two statements are compared by their content words, their numbers and whether they forbid or demand.
//! "From now on", "please" and other openers of a rule count for nothing.

use std::collections::{BTreeSet, HashSet};

use crate::analyzer::{is_stop_word, words};
use crate::stem::stem;

/// Content words without which a sentence says too little to be compared.
const CONTENT_WORDS_MIN: usize = 2;
/// From this many content words on, one of them may be missing in a repetition.
const TOLERANT_WORDS_MIN: usize = 5;
/// Share of a statement's words that a note of the same session must repeat, in percent: a note that adds words of
/// its own, and one that does not.
const RESTATED_PERCENT_MIN: usize = 75;
const COVERED_PERCENT_MIN: usize = 60;

/// Phrases that introduce a rule or a request and say nothing of its subject, folded like [`words`].
#[rustfmt::skip]
const OPENERS: &[&[&str]] = &[
    &["from", "now", "on"], &["from", "today", "on"], &["starting", "now"], &["starting", "today"], &["going", "forward"],
    &["in", "the", "future"], &["in", "future"], &["for", "the", "future"], &["henceforth"], &["as", "a", "rule"],
    &["as", "of", "now"], &["please", "remember", "that"], &["remember", "that"], &["please", "remember"], &["remember"],
    &["please", "note", "that"], &["note", "that"], &["keep", "in", "mind", "that"], &["keep", "in", "mind"],
    &["make", "sure", "that"], &["make", "sure"], &["new", "rule"], &["standing", "rule"], &["the", "rule", "is"],
    &["the", "user", "said", "that"], &["the", "user", "said"], &["the", "user", "says"], &["the", "user", "wants"],
    &["the", "user", "prefers"], &["please"],
    &["ab", "jetzt"], &["ab", "sofort"], &["von", "nun", "an"], &["von", "jetzt", "an"], &["in", "zukunft"], &["kunftig"],
    &["bitte"], &["desormais"], &["dorenavant"], &["a", "partir", "de", "maintenant"], &["s", "il", "vous", "plait"],
    &["de", "ahora", "en", "adelante"], &["a", "partir", "de", "ahora"], &["por", "favor"],
];
/// Words that forbid. They decide whether a statement is negative and are no content.
#[rustfmt::skip]
const NEGATIONS: &[&str] = &[
    "never", "not", "no", "t", "cannot", "without", "neither", "nor", "avoid", "forbidden", "nie", "niemals", "nicht",
    "kein", "keine", "keinen", "ohne", "jamais", "pas", "sans", "nunca", "sin", "prohibido",
];
/// Words of emphasis and obligation, and what is left of a contraction.
#[rustfmt::skip]
const SMALL_WORDS: &[&str] = &[
    "always", "must", "ever", "even", "don", "doesn", "didn", "isn", "aren", "won", "shouldn", "mustn", "couldn", "wouldn",
    "re", "ve", "ll", "d", "m", "need", "needs", "user", "agent", "immer", "muss", "auch", "toujours", "siempre",
    "der", "die", "das", "und", "le", "la", "les", "el", "los", "las",
];

/// Whether a word forbids what its sentence says.
pub fn is_negation(word: &str) -> bool {
    NEGATIONS.contains(&word)
}

/// The words of a sentence that say something: no openers of a rule, no function words. Negations stay.
pub fn telling_words(sentence: &str) -> Vec<String> {
    let all: Vec<String> = words(sentence).collect();
    let mut kept = Vec::with_capacity(all.len());
    let mut at = 0;
    while at < all.len() {
        let opener = OPENERS.iter().find(|opener| starts_with(&all[at..], opener));
        match opener {
            Some(opener) => at += opener.len(),
            None => {
                let word = &all[at];
                let is_small = is_stop_word(word) || SMALL_WORDS.contains(&word.as_str());
                if is_negation(word) || !is_small {
                    kept.push(word.clone());
                }
                at += 1;
            }
        }
    }
    kept
}

fn starts_with(words: &[String], phrase: &[&str]) -> bool {
    words.len() >= phrase.len() && words.iter().zip(phrase).all(|(word, wanted)| word == wanted)
}

/// What a sentence states, for comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Stems of the content words, numbers excepted.
    content: HashSet<String>,
    numbers: BTreeSet<String>,
    is_negative: bool,
}

/// How a note relates to a statement that it restates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restatement {
    /// The note says nothing that the statement does not say.
    Covered,
    /// The note adds words or numbers of its own.
    Extended,
}

impl Statement {
    /// Reads a sentence; `None` if it says too little.
    pub fn parse(sentence: &str) -> Option<Self> {
        let telling = telling_words(sentence);
        let is_negative = telling.iter().any(|word| is_negation(word));
        let said = telling.into_iter().filter(|word| !is_negation(word));
        let (numbers, content): (BTreeSet<String>, Vec<String>) = {
            let (numbers, content): (Vec<_>, Vec<_>) = said.partition(|word| word.contains(char::is_numeric));
            (numbers.into_iter().collect(), content)
        };
        let content: HashSet<String> = content.iter().map(|word| stem(word)).collect();
        let is_enough = content.len() + numbers.len() >= CONTENT_WORDS_MIN && !content.is_empty();
        is_enough.then_some(Self { content, numbers, is_negative })
    }

    /// Whether both state the same, wherever they were said: all content words, numbers and the polarity are equal.
    /// From five words on, one of both may lack one word.
    pub fn says_same(&self, other: &Self) -> bool {
        if self.numbers != other.numbers || self.is_negative != other.is_negative {
            return false;
        }
        let missing = self.content.difference(&other.content).count();
        let added = other.content.difference(&self.content).count();
        let is_long = self.content.len().min(other.content.len()) >= TOLERANT_WORDS_MIN;
        missing + added == 0 || (is_long && missing + added == 1)
    }

    /// Whether a note that was written down in the same session restates this statement, as `(shared percent, how)`.
    /// It may leave out and add more than [`Self::says_same`] allows, because both are about the same conversation.
    pub fn restated_by(&self, note: &Self) -> Option<(usize, Restatement)> {
        if self.is_negative != note.is_negative || !self.numbers.is_subset(&note.numbers) {
            return None;
        }
        let shared = self.content.intersection(&note.content).count();
        let percent = shared * 100 / self.content.len().max(1);
        let extra = note.content.len() - shared;
        let adds_nothing = extra == 0 && self.numbers == note.numbers;
        let (least, how) = if adds_nothing {
            (COVERED_PERCENT_MIN, Restatement::Covered)
        } else {
            (RESTATED_PERCENT_MIN, Restatement::Extended)
        };
        // A note that is mostly about something else only mentions the statement.
        let is_about_it = extra <= note.content.len() / 2;
        (shared >= CONTENT_WORDS_MIN && percent >= least && is_about_it).then_some((percent, how))
    }
}

#[cfg(test)]
#[path = "statement_tests.rs"]
mod tests;
