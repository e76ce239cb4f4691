//! What crosses the episodes of one session: a failure whose fix may come turns later, the
//! question that the next prompt answers, what has been said already.
//!
//! The worker keeps it per session as JSON. Invariant: it is bounded, whatever the session does,
//! and a carry of an older version, or none, only makes the distiller know less.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::cues::CueKind;
use super::speech::{MarkedSentence, SpokenText};
use super::text::{clip, content_words, one_line, overlap, subject};
use claude_mem_core::memory::NewObservation;

/// Maximum unresolved failures that a session carries between episodes.
pub(crate) const CARRY_FAILURES_MAX: usize = 6;

/// Maximum characters of one carried rule.
const CARRY_RULE_CHARS_MAX: usize = 300;

/// Maximum rules of the user that a session carries between episodes.
pub(crate) const CARRY_RULES_MAX: usize = 16;

/// Maximum characters of each carried text: a request, or the question, proposal or decision that
/// ended the last turn.
const CARRY_TEXT_CHARS_MAX: usize = 500;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Carry {
    /// What the session set out to do: the first prompt that says something.
    pub(super) first_request: String,
    /// The last prompt that asked for something, for turns that only say "go on".
    pub(super) request: String,
    /// The prompt of the last episode, so that the pieces of one long turn are known as one.
    pub(super) prompt: Option<u32>,
    /// This episode goes on with the turn of the one before.
    #[serde(skip)]
    pub(super) same_turn: bool,
    pub(super) last_words: LastWords,
    /// The name from code that the session turns around: the first one it mentioned.
    pub(super) subject: String,
    /// What the user laid down in this session, newest last.
    pub(super) rules: VecDeque<String>,
    pub(super) failures: VecDeque<OpenFailure>,
    /// Open todos and tasks by id.
    pub(super) tasks: BTreeMap<String, String>,
    /// The options that the agent's last message offered.
    pub(super) options: Vec<String>,
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
    /// The program that was run.
    pub program: String,
    pub errors: Vec<String>,
    /// Commands run since that may be the remedy.
    pub remedies: Vec<String>,
    /// A file was edited since.
    pub edited: bool,
}

impl Carry {
    /// Takes in what the user said. The later pieces of one long turn repeat its prompt.
    pub(super) fn open_turn(
        &mut self,
        prompt: Option<u32>,
        said: &SpokenText,
        answered: &SpokenText,
        words: &str,
    ) {
        self.same_turn = prompt.is_some() && prompt == self.prompt;
        self.prompt = prompt;
        if self.first_request.is_empty() {
            let spoken = said.own().chain(answered.own());
            self.subject = spoken.map(|s| subject(&s.text)).find_map(|name| name).unwrap_or_default();
        }
        if !said.is_bare() && !self.same_turn {
            self.remember_request(&one_line(words));
        }
    }

    /// Takes in how the agent ended its turn.
    pub(super) fn close_turn(&mut self, answered: &SpokenText, decided: &[NewObservation]) {
        if answered.statements.is_empty() {
            return;
        }
        let clipped = |s: &MarkedSentence| clip(&s.text, CARRY_TEXT_CHARS_MAX);
        let asks = |s: &&MarkedSentence| s.question;
        let offers = |s: &&MarkedSentence| s.marks.has(CueKind::Propose) && !s.question;
        self.last_words = LastWords {
            spoke: true,
            question: answered.own().filter(asks).last().map(clipped).unwrap_or_default(),
            proposal: answered.own().find(offers).map(clipped).unwrap_or_default(),
            settled: decided
                .first()
                .map(|made| clip(&made.narrative, CARRY_TEXT_CHARS_MAX))
                .unwrap_or_default(),
        };
    }

    pub(super) fn remember_request(&mut self, request: &str) {
        let request = clip(request, CARRY_TEXT_CHARS_MAX);
        if self.first_request.is_empty() {
            self.first_request.clone_from(&request);
        }
        self.request = request;
    }

    pub(super) fn remember_rule(&mut self, rule: &str) {
        push_bounded(&mut self.rules, clip(rule, CARRY_RULE_CHARS_MAX), CARRY_RULES_MAX);
    }

    pub(super) fn remember_failure(&mut self, failure: OpenFailure) {
        self.failures.retain(|open| open.key != failure.key);
        push_bounded(&mut self.failures, failure, CARRY_FAILURES_MAX);
    }
}

/// Whether two titles say the same.
pub(super) fn are_alike(a: &str, b: &str) -> bool {
    let (a, b) = (content_words(a), content_words(b));
    same_numbers(&a, &b) && overlap(&a, &b) >= 0.85 && a.len().abs_diff(b.len()) <= 2
}

/// A rule that differs in a number is another rule.
fn same_numbers(a: &std::collections::BTreeSet<String>, b: &std::collections::BTreeSet<String>) -> bool {
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
