//! What a row is outside of its database: every field that has a meaning elsewhere, and nothing
//! that has not.
//!
//! Fields are only ever added, with a default: a file of today is read by every version to come.

use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::ids::PublicId;
use crate::memory::{ObservationType, Origin};
use crate::store::{Level, SessionStatus};

/// Whether a field says nothing, and need not be written.
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
    /// Every name it is known by: `remote:…`, `git:…`, `path:…`.
    keys: Vec<String>,
    last_active: Millis,
});

record!(SessionRecord {
    /// Which program it was a conversation with.
    client: String,
    /// That program's own id of it.
    client_session: String,
    project: Option<PublicId>,
    branch: Option<String>,
    transcript_path: Option<String>,
    /// Its transcript must not be read, here or elsewhere.
    transcript_closed: bool,
    /// The first prompt, as a name for the session.
    user_prompt: Option<String>,
    status: Option<SessionStatus>,
    origin: Option<Origin>,
    prompt_counter: u32,
    /// What the compressor carries from one episode to the next.
    carry: Option<String>,
    rolling_summary: Option<String>,
    last_activity: Millis,
    completed_at: Option<Millis>,
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
    /// The agent's last words of a turn.
    MessageRecord {
    session: Option<PublicId>,
    project: Option<PublicId>,
    prompt_number: u32,
    text: String,
    agent_id: Option<String>,
    agent_type: Option<String>,
    origin: Option<Origin>,
});

record!(SummaryRecord {
    session: Option<PublicId>,
    project: Option<PublicId>,
    prompt_number: u32,
    request: String,
    investigated: String,
    learned: String,
    completed: String,
    next_steps: String,
    notes: String,
    files_read: Vec<String>,
    files_edited: Vec<String>,
    branch: Option<String>,
    origin: Option<Origin>,
    made_by: String,
    discovery_tokens: u32,
    read_tokens: u32,
});

/// A thing worth remembering. It alone must say what type it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObservationRecord {
    pub uid: PublicId,
    #[serde(default, skip_serializing_if = "is_default")]
    pub session: Option<PublicId>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub project: Option<PublicId>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub level: Level,
    #[serde(default, skip_serializing_if = "is_default")]
    pub prompt_number: u32,
    #[serde(rename = "type")]
    pub kind: ObservationType,
    pub title: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub subtitle: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub narrative: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub facts: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub concepts: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub files_read: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub files_modified: Vec<String>,
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
    /// The newer memory that took its place.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replaced_by: Option<PublicId>,
    pub created_at: Millis,
    #[serde(default, skip_serializing_if = "is_default")]
    pub updated_at: Millis,
}
