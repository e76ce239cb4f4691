//! Records: rows in their portable form, with every field that has a meaning outside the database.
//!
//! Fields are only ever added, with a default, so that every later version reads today's files.

use serde::{Deserialize, Serialize};

use crate::{MemoryLevel, SessionStatus};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::PublicId;
use claude_mem_core::memory::{ObservationText, ObservationType, Origin, SummaryText};

/// Whether a field has its default value and can be omitted.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

macro_rules! record {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub struct $name {
            pub uid: PublicId,
            $($(#[$field_doc])* #[serde(default, skip_serializing_if = "is_default")] pub $field: $type,)*
            pub created_at: Millis,
        }
    };
}

record!(ProjectRecord {
    name: String,
    root: String,
    /// Every key it is known by: `remote:…`, `git:…`, `path:…`.
    keys: Vec<String>,
    last_active: Millis,
});

record!(SessionRecord {
    /// The client program.
    client: String,
    /// The client's own session id.
    client_session: String,
    project: Option<PublicId>,
    branch: Option<String>,
    transcript_path: Option<String>,
    /// The transcript must not be read, here or elsewhere.
    transcript_closed: bool,
    /// The first prompt, which serves as the session's name.
    user_prompt: Option<String>,
    status: Option<SessionStatus>,
    origin: Option<Origin>,
    prompt_counter: u32,
    /// The compressor's state between episodes.
    carry: Option<String>,
    rolling_summary: Option<String>,
    last_activity: Millis,
    completed_at: Option<Millis>,
    /// Files that its tool calls read but did not edit, and those that they edited.
    files_read: Vec<String>,
    files_edited: Vec<String>,
});

record!(PromptRecord {
    session: Option<PublicId>,
    project: Option<PublicId>,
    prompt_number: u32,
    /// The client's own id of the turn.
    prompt_id: Option<String>,
    text: String,
    private: bool,
    origin: Option<Origin>,
});

record!(
    /// The agent's final message of a turn.
    MessageRecord {
    session: Option<PublicId>,
    project: Option<PublicId>,
    prompt_number: u32,
    text: String,
    agent_id: Option<String>,
    agent_type: Option<String>,
    origin: Option<Origin>,
});

/// A summary of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryRecord {
    pub uid: PublicId,
    #[serde(default, skip_serializing_if = "is_default")]
    pub session: Option<PublicId>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub project: Option<PublicId>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub prompt_number: u32,
    #[serde(flatten, with = "SummaryFields")]
    pub text: SummaryText,
    #[serde(default, skip_serializing_if = "is_default")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub origin: Option<Origin>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub made_by: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub discovery_tokens: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_tokens: u32,
    pub created_at: Millis,
}

/// An observation. The only record whose type is required.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObservationRecord {
    pub uid: PublicId,
    #[serde(default, skip_serializing_if = "is_default")]
    pub session: Option<PublicId>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub project: Option<PublicId>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub level: MemoryLevel,
    #[serde(default, skip_serializing_if = "is_default")]
    pub prompt_number: u32,
    #[serde(flatten, with = "ObservationFields")]
    pub text: ObservationText,
    #[serde(default, skip_serializing_if = "is_default")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub agent_id: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub agent_type: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub origin: Option<Origin>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub made_by: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub discovery_tokens: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_tokens: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub pinned: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub wrong: bool,
    /// The newer observation that replaced it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replaced_by: Option<PublicId>,
    pub created_at: Millis,
    #[serde(default, skip_serializing_if = "is_default")]
    pub updated_at: Millis,
    /// A person changed its text.
    #[serde(default, skip_serializing_if = "is_default")]
    pub edited: bool,
    /// All sessions that said it, the first one first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sessions: Vec<PublicId>,
}

/// How the text of an observation is written: what is empty is left out. The compiler checks that all fields
/// are here.
#[derive(Serialize, Deserialize)]
#[serde(remote = "ObservationText")]
struct ObservationFields {
    #[serde(rename = "type")]
    kind: ObservationType,
    title: String,
    #[serde(default, skip_serializing_if = "is_default")]
    subtitle: String,
    #[serde(default, skip_serializing_if = "is_default")]
    narrative: String,
    #[serde(default, skip_serializing_if = "is_default")]
    facts: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    concepts: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    files_read: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    files_modified: Vec<String>,
}

/// How the text of a summary is written: what is empty is left out.
#[derive(Serialize, Deserialize)]
#[serde(remote = "SummaryText")]
struct SummaryFields {
    #[serde(default, skip_serializing_if = "is_default")]
    request: String,
    #[serde(default, skip_serializing_if = "is_default")]
    investigated: String,
    #[serde(default, skip_serializing_if = "is_default")]
    learned: String,
    #[serde(default, skip_serializing_if = "is_default")]
    completed: String,
    #[serde(default, skip_serializing_if = "is_default")]
    next_steps: String,
    #[serde(default, skip_serializing_if = "is_default")]
    notes: String,
    #[serde(default, skip_serializing_if = "is_default")]
    files_read: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    files_edited: Vec<String>,
}
