//! Parses a model's answer.
//!
//! `parse_answer` turns any text into a [`ParsedAnswer`] in the model's own words, or an
//! [`InvalidAnswer`]. Grounding then checks it against the episode.
//!
//! Invariant: text outside the contract's tags is never kept, so neither prose nor an error message
//! can become a memory. A valid answer completes its episode even when it is empty; an invalid one
//! changes nothing.

use super::item::AnswerItem;
pub use super::item::AnswerObservation;
use super::scanner::{AnswerTag, TagMark, is_too_deep, scan_tags};
use super::text;
use claude_mem_core::limits::ANSWER_BYTES_MAX;
use claude_mem_core::memory::SummaryText;

/// Maximum observations taken from one answer.
pub(crate) const ANSWER_ITEMS_MAX: usize = 64;

/// A valid answer. If empty, nothing was worth keeping. Types and concepts are the model's own words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedAnswer {
    pub observations: Vec<AnswerObservation>,
    pub summary: Option<SummaryText>,
}

/// Why an answer is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAnswer {
    #[error("the model's answer is empty")]
    Empty,
    #[error("the model's answer is longer than {ANSWER_BYTES_MAX} bytes")]
    TooLarge,
    #[error("the model's answer has none of the requested tags")]
    Prose,
    #[error("the model's answer is nested too deeply")]
    TooDeep,
    #[error("the model's answer is cut off before its first complete item")]
    Cut,
    #[error("the model's answer has the requested tags but no usable content")]
    Unusable,
}

/// Parses an answer.
pub fn parse_answer(answer: &str) -> Result<ParsedAnswer, InvalidAnswer> {
    if answer.len() > ANSWER_BYTES_MAX {
        return Err(InvalidAnswer::TooLarge);
    }
    let spoken = strip_reasoning(answer);
    if spoken.trim().is_empty() {
        return Err(InvalidAnswer::Empty);
    }
    match parse_items(spoken) {
        // Some models escape the whole answer.
        Err(InvalidAnswer::Prose) if spoken.contains("&lt;") => {
            let mut opened = String::with_capacity(spoken.len());
            text::unescape_into(&mut opened, spoken);
            parse_items(&opened)
        }
        result => result,
    }
}

/// Strips the reasoning before an answer, whose drafts look like answers.
fn strip_reasoning(answer: &str) -> &str {
    let items = ["<observation", "<summary"].into_iter().filter_map(|item| answer.find(item));
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

fn parse_items(answer: &str) -> Result<ParsedAnswer, InvalidAnswer> {
    let tokens = scan_tags(answer);
    if is_too_deep(&tokens) {
        return Err(InvalidAnswer::TooDeep);
    }
    let mut found = AnswerCollector::default();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match (token.tag, &token.mark) {
            (AnswerTag::Skip, _) => found.nothing = true,
            (AnswerTag::Observation | AnswerTag::Summary, TagMark::Open { .. }) => {
                let item = AnswerItem::starting_at(answer, &tokens, at - 1);
                at = item.end;
                found.collect(&item);
            }
            _ => {}
        }
    }
    found.finish()
}

/// Collects the items of an answer and decides whether it is valid.
#[derive(Default)]
struct AnswerCollector {
    answer: ParsedAnswer,
    /// The model skipped, or sent an empty item.
    nothing: bool,
    unusable: bool,
    truncated: bool,
}

impl AnswerCollector {
    fn collect(&mut self, item: &AnswerItem<'_>) {
        if item.is_blank() {
            self.nothing = true;
        } else if item.tag() == AnswerTag::Summary {
            match item.summary() {
                // Only the first counts: models repeat themselves.
                Some(summary) => drop(self.answer.summary.get_or_insert(summary)),
                None => self.record_unreadable(item),
            }
        } else if let Some(observation) = item.observation() {
            let known = self.answer.observations.contains(&observation);
            if !known && self.answer.observations.len() < ANSWER_ITEMS_MAX {
                self.answer.observations.push(observation);
            }
        } else {
            self.record_unreadable(item);
        }
    }

    fn record_unreadable(&mut self, item: &AnswerItem<'_>) {
        if item.closed {
            self.unusable = true;
        } else {
            self.truncated = true;
        }
    }

    fn finish(self) -> Result<ParsedAnswer, InvalidAnswer> {
        let holds = !self.answer.observations.is_empty() || self.answer.summary.is_some();
        match self {
            found if holds => Ok(found.answer),
            Self { unusable: true, .. } => Err(InvalidAnswer::Unusable),
            Self { truncated: true, .. } => Err(InvalidAnswer::Cut),
            Self { nothing: true, .. } => Ok(ParsedAnswer::default()),
            _ => Err(InvalidAnswer::Prose),
        }
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
