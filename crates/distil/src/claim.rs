//! Claims: what an episode states, before the whole session is consolidated.
//!
//! [`extract_claims`](crate::extract_claims) reads one episode, [`consolidate`](crate::consolidate) makes the
//! session's memories from the claims of all its episodes. [`EpisodeClaims`] is stored as JSON between the two.
//!
//! Invariant: the same text of the same source gives the same [`Claim::key`], so that running the extraction
//! again, or reading a text a second time, adds nothing.

use serde::{Deserialize, Serialize};

use claude_mem_core::clock::Millis;
use claude_mem_core::event_key::{digest, hex};
use claude_mem_core::memory::{NewObservation, ObservationType};
use claude_mem_core::source::TextSource;
use claude_mem_core::vocabulary::Vocabulary;

use crate::text::run_on;
use crate::turn_outcome::TurnOutcome;

/// The claims of one episode, with what was done in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EpisodeClaims {
    /// Number of the prompt that the episode belongs to.
    pub turn: u32,
    pub at: Millis,
    /// What the user asked for, as one line; empty if the prompt asks for nothing.
    pub request: String,
    /// The prompt asks a question.
    pub asks: bool,
    /// The agent takes back what it said in the turn before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub takes_back: bool,
    /// The user says that what the turn before did is wrong or does not work.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub objects: bool,
    /// In the order of the texts they come from.
    pub claims: Vec<Claim>,
    /// Files with a net change, relative to the root.
    pub edited: Vec<String>,
    pub read: Vec<String>,
    pub runs: Vec<RunClaim>,
    /// What the turn left behind, for the account.
    #[serde(skip_serializing_if = "TurnOutcome::is_empty")]
    pub outcome: TurnOutcome,
    /// The vocabulary of the observations, if it is not the standard one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vocabulary: Option<Box<Vocabulary>>,
}

/// What kind of act a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimKind {
    Commit,
    PullRequest,
    Plan,
    /// A lasting instruction of the user.
    Rule,
    /// What the user picked.
    Choice,
    /// What the user stated about the system.
    UserFact,
    /// A decision that the conversation settled, composed from both voices.
    Settled,
    /// A line of a memory file.
    MemoryLine,
    /// A failure and what overcame it without an edit.
    Remedy,
    Cause,
    Done,
    Decision,
    Fact,
    DeadEnd,
    Caveat,
    Open,
    /// A todo or task that was finished.
    Finished,
    /// Why something outside the change failed or came out differently.
    Pitfall,
}

/// One statement that may be worth remembering.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub key: String,
    pub kind: ClaimKind,
    pub source: TextSource,
    /// Claims of one text share a number; numbers are unique within the episode.
    pub group: u32,
    /// The subject of a commit, the heading of a plan, the chosen option. Empty for a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    pub text: String,
    /// The heading above the sentence, or the line that introduces its list.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub section: String,
    /// The heading that its text begins with.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub topic: String,
    #[serde(default)]
    pub place: SentencePlace,
    /// The sentence before this one, if this one refers to it ("It also …").
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub before: String,
    /// The sentences after this one that refer to it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub after: String,
    /// The paragraph or list that it stands in, if that can be told whole. Only the first claim of a block has it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub block: String,
    /// The probability that it is worth remembering.
    pub worth: f32,
    /// The probability that a stranger understands it without its neighbours; 1 if nothing is known.
    #[serde(default = "certain")]
    pub alone: f32,
    pub at: Millis,
    /// The kind of work, for a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<ObservationType>,
    /// Its words come from outside: a web page or another server's answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// A commit that replaces the one before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub amends: bool,
    /// The paths that were staged by name for a commit; empty if all changes were, or if nothing shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub staged: Vec<String>,
    /// The finished observation, for a claim that is composed from several texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composed: Option<Box<NewObservation>>,
}

/// Where a sentence stands in its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SentencePlace {
    /// Its number in the text.
    pub index: u32,
    /// Sentences of one paragraph or of one list item share this number.
    pub paragraph: u32,
    /// It is an item of a list or a row of a table.
    pub listed: bool,
}

/// A test, build or check that ran, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunClaim {
    pub command: String,
    pub key: String,
    pub passed: bool,
    /// "12 passed", as the run printed it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub result: String,
    /// The line that says what went wrong.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
    pub at: Millis,
    /// An edit of code followed in the same episode.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// Its key and those of the scripts that it ran: if it passes, all of them do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<String>,
    /// A hook ran it inside a commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_hook: bool,
}

impl Claim {
    /// A claim of nothing but a text.
    pub fn new(kind: ClaimKind, source: TextSource, text: impl Into<String>, at: Millis) -> Self {
        let text = text.into();
        let key = claim_key(kind, &text);
        Self {
            key,
            kind,
            source,
            group: 0,
            title: String::new(),
            text,
            section: String::new(),
            topic: String::new(),
            place: SentencePlace::default(),
            before: String::new(),
            after: String::new(),
            block: String::new(),
            worth: 0.0,
            alone: certain(),
            at,
            work: None,
            outside: false,
            amends: false,
            staged: Vec::new(),
            composed: None,
        }
    }

    pub(crate) fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self.key = claim_key(self.kind, &format!("{}\n{}", self.title, self.text));
        self
    }

    /// The sentence with those that belong to it.
    pub(crate) fn passage(&self) -> String {
        let parts = [&self.before, &self.text, &self.after];
        run_on(parts.into_iter().filter(|part| !part.is_empty()).map(String::as_str))
    }

    /// Whether the sentences beside this claim tell another one.
    fn quotes(&self, other: &Self) -> bool {
        let texts = || [&other.text, &other.before, &other.after].into_iter().filter(|text| !text.is_empty());
        let mut quoted = [&self.before, &self.after, &self.block].into_iter().filter(|text| !text.is_empty());
        quoted.any(|quoted| {
            texts().any(|text| text.contains(quoted.as_str()) || quoted.contains(text.as_str()))
        })
    }

    /// The title if it has one, else the text.
    pub(crate) fn headline(&self) -> &str {
        if self.title.is_empty() { &self.text } else { &self.title }
    }
}

const fn certain() -> f32 {
    1.0
}

fn claim_key(kind: ClaimKind, text: &str) -> String {
    let kind = [kind as u8];
    hex(&digest(&[&kind, text.trim().to_lowercase().as_bytes()])[..8])
}

impl EpisodeClaims {
    /// Whether the turn changed something that is no file of the project, and its report says what was done.
    pub(crate) fn reports_operation(&self) -> bool {
        self.outcome.operated && !self.outcome.report.is_empty()
    }

    /// Adds another episode of the same turn.
    pub(crate) fn join(&mut self, other: &Self) {
        let groups = self.claims.iter().map(|claim| claim.group).max().unwrap_or(0);
        self.at = self.at.max(other.at);
        if self.request.is_empty() {
            self.request.clone_from(&other.request);
        }
        self.asks |= other.asks;
        self.takes_back |= other.takes_back;
        self.objects |= other.objects;
        for claim in &other.claims {
            if !self.claims.iter().any(|known| known.key == claim.key) {
                self.claims.push(Claim { group: claim.group + groups, ..claim.clone() });
            }
        }
        for (files, more) in [(&mut self.edited, &other.edited), (&mut self.read, &other.read)] {
            for file in more {
                if !files.contains(file) {
                    files.push(file.clone());
                }
            }
        }
        self.runs.extend(other.runs.iter().cloned());
        self.outcome.join(&other.outcome);
        self.vocabulary = self.vocabulary.take().or_else(|| other.vocabulary.clone());
    }

    /// Removes the claims of a memory that the user has forgotten, what other claims quote of them, and what else
    /// tells of that work.
    pub fn forget(&mut self, keys: &[String]) {
        let (gone, mut kept): (Vec<Claim>, Vec<Claim>) =
            std::mem::take(&mut self.claims).into_iter().partition(|claim| keys.contains(&claim.key));
        if !gone.is_empty() {
            self.outcome.report.clear();
            self.outcome.refused = None;
            self.outcome.plan = None;
            self.outcome.next = None;
        }
        for claim in &mut kept {
            if gone.iter().any(|gone| claim.quotes(gone)) {
                claim.before.clear();
                claim.after.clear();
                claim.block.clear();
            }
        }
        self.claims = kept;
    }
}
