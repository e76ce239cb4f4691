//! Domain values: observations, summaries and their origin.
//!
//! The compressors (`distil` and `models`) produce a [`CompressionOutput`], the store persists
//! it, and everything that shows memories reads it. Nothing here does I/O.

use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::limits::TYPE_BYTES_MAX;
use crate::tokens;

/// The type of an observation. The six of the standard vocabulary are constants; a vocabulary file
/// may add others, so the set is open.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct ObservationType(std::borrow::Cow<'static, str>);

impl ObservationType {
    pub const DECISION: Self = Self(std::borrow::Cow::Borrowed("decision"));
    pub const BUGFIX: Self = Self(std::borrow::Cow::Borrowed("bugfix"));
    pub const FEATURE: Self = Self(std::borrow::Cow::Borrowed("feature"));
    pub const REFACTOR: Self = Self(std::borrow::Cow::Borrowed("refactor"));
    pub const DISCOVERY: Self = Self(std::borrow::Cow::Borrowed("discovery"));
    pub const CHANGE: Self = Self(std::borrow::Cow::Borrowed("change"));
    /// The types of the standard vocabulary.
    pub const ALL: [Self; 6] =
        [Self::DECISION, Self::BUGFIX, Self::FEATURE, Self::REFACTOR, Self::DISCOVERY, Self::CHANGE];

    /// A type from a vocabulary file or the database. For user input use `from_text`.
    pub fn named(name: impl Into<String>) -> Self {
        Self(std::borrow::Cow::Owned(name.into()))
    }

    /// Parses user input. `None`: not a valid name. Types are shown to agents next to their
    /// instructions, so a type must be a plain word.
    pub fn from_text(text: &str) -> Option<Self> {
        let name = text.trim().to_lowercase().replace(' ', "-");
        Self::is_name(&name).then(|| Self::named(name))
    }

    /// Whether this is a valid type name: letters, digits, `_` and `-`, up to the maximum length.
    pub fn is_name(name: &str) -> bool {
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_-".contains(&b);
        (1..=TYPE_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_plain)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ObservationType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

/// The producer of a text. Text from a tool or the web is never presented as anyone's instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The user's own words.
    User,
    /// An action or statement of the agent.
    Agent,
    /// Output of a tool that the agent ran.
    Tool,
    /// Content fetched from the web.
    Web,
    /// From a file or a database that somebody else may have written. Memories of imported transcripts of the
    /// user's own client have the origin of their speaker.
    Import,
    /// Saved by hand, through the CLI, the viewer or MCP.
    Manual,
}

impl Origin {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::Tool => "tool",
            Self::Web => "web",
            Self::Import => "import",
            Self::Manual => "manual",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "user" => Self::User,
            "agent" => Self::Agent,
            "tool" => Self::Tool,
            "web" => Self::Web,
            "import" => Self::Import,
            "manual" => Self::Manual,
            _ => return None,
        })
    }
}

/// The text of an observation: the one definition of its fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservationText {
    #[serde(rename = "type")]
    pub kind: ObservationType,
    /// A specific sentence: an index line shows nothing else.
    pub title: String,
    pub subtitle: String,
    pub narrative: String,
    /// Atomic statements, each true on its own.
    pub facts: Vec<String>,
    /// From the vocabulary: how-it-works, why-it-exists, what-changed, problem-solution, gotcha,
    /// pattern, trade-off.
    pub concepts: Vec<String>,
    pub files_read: Vec<String>,
    /// From real tool inputs, never from what a model claims to have changed.
    pub files_modified: Vec<String>,
}

impl ObservationText {
    /// A text of nothing but a title.
    pub fn new(kind: ObservationType, title: impl Into<String>) -> Self {
        Self {
            kind,
            title: title.into(),
            subtitle: String::new(),
            narrative: String::new(),
            facts: Vec::new(),
            concepts: Vec::new(),
            files_read: Vec::new(),
            files_modified: Vec::new(),
        }
    }

    /// Title, subtitle and narrative.
    pub const fn texts(&self) -> [&String; 3] {
        [&self.title, &self.subtitle, &self.narrative]
    }

    /// Facts, concepts, files read and files modified.
    pub const fn lists(&self) -> [&Vec<String>; 4] {
        [&self.facts, &self.concepts, &self.files_read, &self.files_modified]
    }

    /// Estimated tokens of the whole text.
    pub fn read_tokens(&self) -> u32 {
        line_tokens(self.texts().into_iter().chain(self.lists().into_iter().flatten()))
    }
}

/// An observation that is not stored yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewObservation {
    #[serde(flatten)]
    pub text: ObservationText,
    pub origin: Origin,
    pub created_at: Millis,
    /// Tokens spent to find it out, shared equally among the results of one model call.
    pub discovery_tokens: u32,
}

impl NewObservation {
    /// An observation of nothing but a title.
    pub fn new(kind: ObservationType, title: impl Into<String>, origin: Origin, created_at: Millis) -> Self {
        Self::from_text(ObservationText::new(kind, title), origin, created_at)
    }

    pub const fn from_text(text: ObservationText, origin: Origin, created_at: Millis) -> Self {
        Self { text, origin, created_at, discovery_tokens: 0 }
    }
}

/// The text of a summary: the one definition of its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryText {
    pub request: String,
    pub investigated: String,
    pub learned: String,
    pub completed: String,
    pub next_steps: String,
    pub notes: String,
    pub files_read: Vec<String>,
    pub files_edited: Vec<String>,
}

impl SummaryText {
    /// Request, investigated, learned, completed, next steps and notes.
    pub fn texts(&self) -> [&str; 6] {
        [&self.request, &self.investigated, &self.learned, &self.completed, &self.next_steps, &self.notes]
    }

    /// As [`texts`](Self::texts).
    pub const fn texts_mut(&mut self) -> [&mut String; 6] {
        [
            &mut self.request,
            &mut self.investigated,
            &mut self.learned,
            &mut self.completed,
            &mut self.next_steps,
            &mut self.notes,
        ]
    }

    /// Files read and files edited.
    pub const fn lists(&self) -> [&Vec<String>; 2] {
        [&self.files_read, &self.files_edited]
    }

    /// Estimated tokens of the whole text.
    pub fn read_tokens(&self) -> u32 {
        let lists = self.lists().into_iter().flatten().map(String::as_str);
        line_tokens(self.texts().into_iter().chain(lists))
    }
}

/// A summary of one turn's work that is not stored yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NewSummary {
    #[serde(flatten)]
    pub text: SummaryText,
    pub created_at: Millis,
    pub discovery_tokens: u32,
}

/// The output of a compressor for one episode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CompressionOutput {
    pub observations: Vec<NewObservation>,
    pub summary: Option<NewSummary>,
    /// Earlier observations of the session that these take in.
    #[serde(default)]
    pub absorbed: Vec<AbsorbedTitle>,
}

/// An earlier observation of a session that a new one continues, corrects or repeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbsorbedTitle {
    /// Index of the new observation.
    pub into: usize,
    /// The title of the earlier one.
    pub title: String,
}

/// Whether two titles are the same, whatever their case, spacing and final punctuation.
pub fn is_same_title(a: &str, b: &str) -> bool {
    let plain = |title: &str| {
        let words: Vec<String> = title.split_whitespace().map(str::to_lowercase).collect();
        words.join(" ").trim_end_matches(['.', '!', '…', ' ']).to_owned()
    };
    plain(a) == plain(b)
}

/// The text of a session's account: the one definition of its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountText {
    /// The purpose of the session.
    pub purpose: String,
    pub done: Vec<String>,
    pub learned: Vec<String>,
    pub decided: Vec<String>,
    /// Checks that ran after the last edit, with their outcome.
    pub checked: Vec<String>,
    pub open: Vec<String>,
    pub files_edited: Vec<String>,
}

impl AccountText {
    /// The lists of statements: done, learned, decided, checked and open.
    pub const fn lists(&self) -> [&Vec<String>; 5] {
        [&self.done, &self.learned, &self.decided, &self.checked, &self.open]
    }

    /// As [`lists`](Self::lists).
    pub const fn lists_mut(&mut self) -> [&mut Vec<String>; 5] {
        [&mut self.done, &mut self.learned, &mut self.decided, &mut self.checked, &mut self.open]
    }

    /// The purpose and every statement.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.purpose).chain(self.lists().into_iter().flatten())
    }

    /// Estimated tokens of the whole text.
    pub fn read_tokens(&self) -> u32 {
        line_tokens(self.texts().chain(&self.files_edited))
    }
}

/// The purpose and the result of one session, updated with each turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionAccount {
    #[serde(flatten)]
    pub text: AccountText,
    /// The time of the last claim.
    pub at: Millis,
}

/// Estimated tokens of these texts, each on a line of its own.
fn line_tokens<'a, T: AsRef<str> + ?Sized + 'a>(texts: impl Iterator<Item = &'a T>) -> u32 {
    let filled = texts.map(AsRef::as_ref).filter(|text| !text.is_empty());
    filled.map(|text| tokens::estimate(text) + 1).sum()
}

/// An observation of a whole session, with the claims it was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConsolidatedObservation {
    /// Keys of its claims, the leading one first. A row that held one of them is its predecessor.
    pub claims: Vec<String>,
    pub observation: NewObservation,
}

/// Remaining work that a session named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewOpenItem {
    /// Key of the claim that opened it.
    pub claim: String,
    pub text: String,
    pub at: Millis,
    /// The session itself finished it.
    pub closed: bool,
}

/// Everything that one session leaves behind, as a pure function of its claims.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionMemories {
    pub observations: Vec<ConsolidatedObservation>,
    pub account: Option<SessionAccount>,
    pub open_items: Vec<NewOpenItem>,
    /// Texts of finished work, by which open items of earlier sessions are closed.
    pub finished: Vec<String>,
    /// Keys of open items of earlier sessions that the record shows as done: a merged pull request, a note that was
    /// moved away, a check that passes.
    #[serde(default)]
    pub settled: Vec<String>,
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
