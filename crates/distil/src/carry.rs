//! State that one episode of a session passes to the next: unresolved failures, the agent's last question and
//! options, open tasks, rules of the user.
//!
//! The worker stores [`Carry`] per session as JSON. Invariant: its size is bounded, and an older or missing one
//! only means that fewer claims are found.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::cues::CueKind;
use super::prompts::without_pictures;
use super::speech::{MarkedSentence, SpokenText};
use super::text::{clip, content_words, one_line, overlap};
use claude_mem_core::clock::Millis;
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

/// The state of a session between two of its episodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Carry {
    /// The first prompt that asks for something.
    pub(super) first_request: String,
    /// The last prompt that asked for something, for turns that only say "go on".
    pub(super) request: String,
    /// The prompt number of the previous episode, by which the parts of one long turn are recognised.
    pub(super) prompt: Option<u32>,
    /// This episode continues the turn of the previous one.
    #[serde(skip)]
    pub(super) same_turn: bool,
    pub(super) last_words: LastWords,
    /// Rules of the user in this session, newest last.
    pub(super) rules: VecDeque<String>,
    pub(super) failures: VecDeque<OpenFailure>,
    /// A file was edited or a commit was made in this session.
    pub(super) worked: bool,
    /// Open todos and tasks by id.
    pub(super) tasks: BTreeMap<String, String>,
    /// The options that the agent's last message offered.
    pub(super) options: Vec<String>,
}

/// The end of the agent's previous turn, which the next prompt may answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct LastWords {
    /// The agent wrote a message.
    pub spoke: bool,
    pub question: String,
    pub proposal: String,
    /// What was settled, so that a confirmation does not store it again.
    pub settled: String,
}

/// A command that failed and has not passed since.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct OpenFailure {
    /// The command without its variable parts.
    pub key: String,
    pub command: String,
    /// The program that was run.
    pub program: String,
    pub errors: Vec<String>,
    /// When it failed first.
    pub at: Millis,
    /// Commands of the failed line that change something: they did not help.
    pub prepared: Vec<String>,
    /// Commands run since that may be the remedy.
    pub remedies: Vec<String>,
    /// All commands that changed something since.
    pub since: Vec<String>,
    /// Edits of configurations since.
    pub edits: Vec<ConfigurationEdit>,
    /// A file with code was edited since.
    pub edited: bool,
}

/// An edit of a file that configures a program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ConfigurationEdit {
    pub path: String,
    /// The first line that it put in.
    pub added: String,
}

impl Carry {
    /// Reads the prompt of a turn. The later parts of a long turn repeat it.
    pub(super) fn open_turn(&mut self, prompt: Option<u32>, said: &SpokenText, words: &str) {
        self.same_turn = prompt.is_some() && prompt == self.prompt;
        self.prompt = prompt;
        if !said.is_bare() && !self.same_turn {
            self.remember_request(&one_line(words));
        }
    }

    /// Reads the agent's last message of a turn.
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
                .map(|made| clip(&made.text.narrative, CARRY_TEXT_CHARS_MAX))
                .unwrap_or_default(),
        };
    }

    pub(super) fn remember_request(&mut self, request: &str) {
        let request = clip(&without_pictures(request), CARRY_TEXT_CHARS_MAX);
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
