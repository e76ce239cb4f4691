//! Domain values: observations, summaries and their origin.
//!
//! The compressors (`distil` and `compress`) produce a [`CompressionOutput`], the store persists
//! it, and everything that shows memories reads it. Nothing here does I/O.

use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::limits::TYPE_BYTES_MAX;

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

/// Who produced a text. Text from a tool or the web is never presented as anyone's instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The user's own words.
    User,
    /// What the agent did or said.
    Agent,
    /// Output of a tool that the agent ran.
    Tool,
    /// Content fetched from the web.
    Web,
    /// Imported from another store or an old transcript.
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

/// An observation that is not stored yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewObservation {
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
    pub origin: Origin,
    pub created_at: Millis,
    /// Tokens spent to find it out, shared equally among the results of one model call.
    pub discovery_tokens: u32,
}

impl NewObservation {
    /// An observation of nothing but a title.
    pub fn new(kind: ObservationType, title: impl Into<String>, origin: Origin, created_at: Millis) -> Self {
        Self {
            kind,
            title: title.into(),
            subtitle: String::new(),
            narrative: String::new(),
            facts: Vec::new(),
            concepts: Vec::new(),
            files_read: Vec::new(),
            files_modified: Vec::new(),
            origin,
            created_at,
            discovery_tokens: 0,
        }
    }
}

/// A summary of one turn's work that is not stored yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NewSummary {
    pub request: String,
    pub investigated: String,
    pub learned: String,
    pub completed: String,
    pub next_steps: String,
    pub notes: String,
    pub files_read: Vec<String>,
    pub files_edited: Vec<String>,
    pub created_at: Millis,
    pub discovery_tokens: u32,
}

/// What a compressor made of one episode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CompressionOutput {
    pub observations: Vec<NewObservation>,
    pub summary: Option<NewSummary>,
}

/// What one session was for and what came of it, kept up to date with each turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionAccount {
    /// What the session was for.
    pub purpose: String,
    pub done: Vec<String>,
    pub learned: Vec<String>,
    pub decided: Vec<String>,
    /// Checks that ran after the last edit, with their outcome.
    pub checked: Vec<String>,
    pub open: Vec<String>,
    pub files_edited: Vec<String>,
    /// The time of the last claim.
    pub at: Millis,
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
}
