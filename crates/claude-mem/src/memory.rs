//! The nouns of memory, as the distiller and the models make them and the store keeps them.
//!
//! Nothing here does I/O: these are the values that travel from `distil` and `compress` to
//! `store`, and from `store` to whatever shows them.

use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::limits::TYPE_BYTES_MAX;

/// What kind of thing an observation is. The six of the standard vocabulary are constants; a
/// vocabulary file may add others, so it is an open set.
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
    /// Those that need no vocabulary.
    pub const ALL: [Self; 6] = [
        Self::DECISION,
        Self::BUGFIX,
        Self::FEATURE,
        Self::REFACTOR,
        Self::DISCOVERY,
        Self::CHANGE,
    ];

    /// A type of a vocabulary file or of a database; what was typed goes through `from_text`.
    pub fn named(name: impl Into<String>) -> Self {
        Self(std::borrow::Cow::Owned(name.into()))
    }

    /// A type as somebody wrote it. `None`: that is no name of one. What is stored is shown to
    /// agents beside their own words, so it must be a word and nothing else.
    pub fn from_text(text: &str) -> Option<Self> {
        let name = text.trim().to_lowercase().replace(' ', "-");
        Self::is_name(&name).then(|| Self::named(name))
    }

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

/// Who said it. Text that a tool or the web produced is never shown as anyone's instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The person's own words.
    User,
    /// What the agent did or said.
    Agent,
    /// Output of a tool that the agent ran.
    Tool,
    /// Content fetched from the web.
    Web,
    /// Brought in from another store or an old transcript.
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

/// One thing worth remembering, before it has a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewObservation {
    #[serde(rename = "type")]
    pub kind: ObservationType,
    /// A specific sentence: it is all that an index line shows.
    pub title: String,
    pub subtitle: String,
    pub narrative: String,
    /// Atomic statements, each true on its own.
    pub facts: Vec<String>,
    /// From the vocabulary: how-it-works, why-it-exists, what-changed, problem-solution, gotcha,
    /// pattern, trade-off.
    pub concepts: Vec<String>,
    pub files_read: Vec<String>,
    /// From real tool inputs, never from what a model says it changed.
    pub files_modified: Vec<String>,
    pub origin: Origin,
    pub created_at: Millis,
    /// What finding it out cost, shared out over all that one call produced.
    pub discovery_tokens: u32,
}

/// An account of one turn's work, before it has a row.
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

/// Everything a compressor made of one episode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distilled {
    pub observations: Vec<NewObservation>,
    pub summary: Option<NewSummary>,
}
