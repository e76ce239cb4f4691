//! What crosses the episodes of one session: a failure whose fix may come turns later, the
//! question that the next prompt answers, what has been said already.
//!
//! The worker keeps it per session as JSON. Invariant: it is bounded, whatever the session does,
//! and a carry of an older version, or none, only makes the distiller know less.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::text::{clip, content_words, overlap};
use crate::limits::{
    CARRY_FAILURES_MAX, CARRY_RULE_CHARS_MAX, CARRY_RULES_MAX, CARRY_TEXT_CHARS_MAX,
    CARRY_TITLES_MAX,
};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Carry {
    /// What the session set out to do: the first prompt that says something.
    pub(super) first_request: String,
    /// The last prompt that asked for something, for turns that only say "go on".
    pub(super) request: String,
    /// The prompt of the last episode, so that the pieces of one long turn are known as one.
    pub(super) prompt: Option<u32>,
    pub(super) last_words: LastWords,
    /// The name from code that the session turns around: the first one it mentioned.
    pub(super) subject: String,
    /// What the user laid down in this session, newest last.
    pub(super) rules: VecDeque<String>,
    pub(super) failures: VecDeque<OpenFailure>,
    titles: VecDeque<String>,
}

/// How the agent ended its last turn: what the next prompt may be the answer to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct LastWords {
    /// It said something at all.
    pub spoke: bool,
    pub question: String,
    pub proposal: String,
    /// What it said was settled, so that a mere "right" is not stored again.
    pub settled: String,
}

/// A command that failed and has not passed since.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct OpenFailure {
    /// The command, reduced to what makes it the same command again.
    pub key: String,
    pub command: String,
    pub errors: Vec<String>,
    /// Files changed since, in the order they were touched.
    pub files: Vec<String>,
    /// What was changed since, in words.
    pub effects: Vec<String>,
    /// Commands run since that may be the remedy.
    pub remedies: Vec<String>,
    /// It failed only after the agent's own edits: work in progress rather than a bug.
    pub own_making: bool,
}

impl Carry {
    pub(super) fn remember_request(&mut self, request: &str) {
        let request = clip(request, CARRY_TEXT_CHARS_MAX);
        if self.first_request.is_empty() {
            self.first_request.clone_from(&request);
        }
        self.request = request;
    }

    pub(super) fn remember_rule(&mut self, rule: &str) {
        push_bounded(
            &mut self.rules,
            clip(rule, CARRY_RULE_CHARS_MAX),
            CARRY_RULES_MAX,
        );
    }

    pub(super) fn remember_failure(&mut self, failure: OpenFailure) {
        self.failures.retain(|open| open.key != failure.key);
        push_bounded(&mut self.failures, failure, CARRY_FAILURES_MAX);
    }

    /// Whether this title, or nearly this title, has been given in this session; if not, it is
    /// from now on.
    pub(super) fn is_told(&mut self, title: &str) -> bool {
        let words = content_words(title);
        let told = self.titles.iter().any(|earlier| {
            let earlier = content_words(earlier);
            same_numbers(&words, &earlier)
                && overlap(&words, &earlier) >= 0.85
                && words.len().abs_diff(earlier.len()) <= 2
        });
        if !told {
            push_bounded(&mut self.titles, title.to_owned(), CARRY_TITLES_MAX);
        }
        told
    }
}

/// A rule that differs in a number is another rule.
fn same_numbers(
    a: &std::collections::BTreeSet<String>,
    b: &std::collections::BTreeSet<String>,
) -> bool {
    let numbers = |words: &std::collections::BTreeSet<String>| {
        let digits = |word: &&String| word.chars().any(|c| c.is_ascii_digit());
        words.iter().filter(digits).cloned().collect::<Vec<_>>()
    };
    numbers(a) == numbers(b)
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T, max: usize) {
    queue.push_back(item);
    while queue.len() > max {
        queue.pop_front();
    }
}
