//! What a model answered, taken apart.
//!
//! In: any text. Out: the items of the contract as the model wrote them, or why it is no
//! answer. `ground` then holds them against what really happened.
//!
//! Invariant: text outside the contract's tags is never kept, so neither prose nor an error
//! message can become a memory. An answer is valid or it is not: a valid one settles its
//! episode even when it holds nothing, an invalid one changes nothing.

use super::item::Item;
use super::scanner::{Mark, Tag, scan, too_deep};
use super::text;
use crate::limits::{ANSWER_BYTES_MAX, ANSWER_ITEMS_MAX};

/// An observation in the model's own words. Nothing in it has been checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    pub kind: String,
    pub title: String,
    pub subtitle: String,
    pub narrative: String,
    pub facts: Vec<String>,
    pub concepts: Vec<String>,
    pub files_read: Vec<String>,
    pub files_modified: Vec<String>,
}

/// A summary in the model's own words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub request: String,
    pub investigated: String,
    pub learned: String,
    pub completed: String,
    pub next_steps: String,
    pub notes: String,
    pub files_read: Vec<String>,
    pub files_edited: Vec<String>,
}

/// A valid answer. Empty means: nothing was worth keeping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub observations: Vec<Observation>,
    pub summary: Option<Summary>,
}

/// Why a text is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    #[error("the model answered nothing")]
    Empty,
    #[error("the model's answer is longer than {ANSWER_BYTES_MAX} bytes")]
    TooLarge,
    #[error("the model answered in prose")]
    Prose,
    #[error("the model's answer nests too deep")]
    TooDeep,
    #[error("the model's answer breaks off before it says anything whole")]
    Cut,
    #[error("the model's answer has our tags but nothing usable in them")]
    Unusable,
}

/// Takes an answer apart.
pub fn parse(answer: &str) -> Result<Answer, Invalid> {
    if answer.len() > ANSWER_BYTES_MAX {
        return Err(Invalid::TooLarge);
    }
    let spoken = without_thoughts(answer);
    if spoken.trim().is_empty() {
        return Err(Invalid::Empty);
    }
    match parse_spoken(spoken) {
        // Some models escape the whole answer.
        Err(Invalid::Prose) if spoken.contains("&lt;") => {
            let mut opened = String::with_capacity(spoken.len());
            text::unescape_into(&mut opened, spoken);
            parse_spoken(&opened)
        }
        result => result,
    }
}

/// Reasoning models think aloud before they answer, in drafts that look like answers.
fn without_thoughts(answer: &str) -> &str {
    let items = ["<observation", "<summary"]
        .into_iter()
        .filter_map(|item| answer.find(item));
    let first_item = items.min().unwrap_or(answer.len());
    let opens = |tag: &str| answer.trim_start().starts_with(tag);
    for (open, close) in [("<think>", "</think>"), ("<thinking>", "</thinking>")] {
        match answer.find(close) {
            // Some servers send only the closing tag.
            Some(at) if opens(open) || at < first_item => return &answer[at + close.len()..],
            None if opens(open) => return "",
            _ => {}
        }
    }
    answer
}

fn parse_spoken(answer: &str) -> Result<Answer, Invalid> {
    let tokens = scan(answer);
    if too_deep(&tokens) {
        return Err(Invalid::TooDeep);
    }
    let mut found = Found::default();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match (token.tag, &token.mark) {
            (Tag::Skip, _) => found.nothing = true,
            (Tag::Observation | Tag::Summary, Mark::Open { .. }) => {
                let item = Item::at(answer, &tokens, at - 1);
                at = item.end;
                found.take(&item);
            }
            _ => {}
        }
    }
    found.verdict()
}

#[derive(Default)]
struct Found {
    answer: Answer,
    /// The model said that there is nothing.
    nothing: bool,
    unusable: bool,
    cut: bool,
}

impl Found {
    fn take(&mut self, item: &Item<'_>) {
        if item.is_blank() {
            self.nothing = true;
        } else if item.tag() == Tag::Summary {
            match item.summary() {
                // Only the first counts: a second one is a repetition.
                Some(summary) => drop(self.answer.summary.get_or_insert(summary)),
                None => self.lost(item),
            }
        } else if let Some(observation) = item.observation() {
            let known = self.answer.observations.contains(&observation);
            if !known && self.answer.observations.len() < ANSWER_ITEMS_MAX {
                self.answer.observations.push(observation);
            }
        } else {
            self.lost(item);
        }
    }

    fn lost(&mut self, item: &Item<'_>) {
        if item.closed {
            self.unusable = true;
        } else {
            self.cut = true;
        }
    }

    fn verdict(self) -> Result<Answer, Invalid> {
        let holds = !self.answer.observations.is_empty() || self.answer.summary.is_some();
        match self {
            found if holds => Ok(found.answer),
            Self { unusable: true, .. } => Err(Invalid::Unusable),
            Self { cut: true, .. } => Err(Invalid::Cut),
            Self { nothing: true, .. } => Ok(Answer::default()),
            _ => Err(Invalid::Prose),
        }
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
