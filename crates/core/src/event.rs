//! The captured event: the domain type behind a client's payload.
//!
//! An [`Event`] is redacted before it leaves the hook's memory. It is written to the spool and the
//! queue as JSON and read back by the worker, possibly of a later version.
//!
//! Invariant: fields are only ever added, with a default.

use serde::{Deserialize, Serialize};

use crate::clock::Micros;
use crate::ids::ClientSessionId;
use crate::source::TextSource;

/// One captured event, from a hook or a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Name of the coding agent, such as `claude-code`.
    pub client: String,
    pub session: ClientSessionId,
    /// Start time of the hook; orders the events of a session.
    pub at: Micros,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectHint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// Id of the subagent in which the event happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript_path: Option<String>,
    /// The input exceeded a limit; the body holds only part of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    pub body: EventBody,
}

impl Event {
    /// An event of which only the required fields are known.
    pub fn new(client: &str, session: ClientSessionId, at: Micros, body: EventBody) -> Self {
        Self {
            client: client.to_owned(),
            session,
            at,
            project: None,
            prompt_id: None,
            agent_id: None,
            agent_type: None,
            transcript_path: None,
            cut: false,
            body,
        }
    }
}

/// The project a session works in, as the hook reads it from `.git` files; the store resolves it to a
/// project row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectHint {
    /// Display name: the last component of the remote or of the path.
    pub name: String,
    /// Identifying keys, strongest first: `remote:…`, `git:…`, `path:…`. All name the same project.
    pub keys: Vec<String>,
    pub root: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_typed_prompt(source: &TextSource) -> bool {
    *source == TextSource::Prompt
}

/// The content of an event, by kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventBody {
    SessionStart {
        /// `startup`, `resume`, `clear`, `compact`, `fork`.
        source: String,
    },
    Prompt {
        text: String,
        /// The prompt was fully private: its text is removed and the rest of the turn not captured.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        private: bool,
        #[serde(default, skip_serializing_if = "is_typed_prompt")]
        source: TextSource,
    },
    /// A text that is neither a prompt nor a final message, such as words at a rejected call.
    Text {
        source: TextSource,
        text: String,
        /// The id of the message or tool call that it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The subject of the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<String>,
    },
    ToolUse {
        tool: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_use_id: Option<String>,
        input: serde_json::Value,
        output: serde_json::Value,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    Stop {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_message: Option<String>,
    },
    SubagentStop {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_message: Option<String>,
    },
    PreCompact {
        trigger: String,
    },
    PostCompact {
        summary: String,
    },
    SessionEnd {
        reason: String,
    },
}

impl EventBody {
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::SessionStart { .. } => EventKind::SessionStart,
            Self::Prompt { .. } => EventKind::Prompt,
            Self::Text { .. } => EventKind::Text,
            Self::ToolUse { .. } => EventKind::ToolUse,
            Self::Stop { .. } => EventKind::Stop,
            Self::SubagentStop { .. } => EventKind::SubagentStop,
            Self::PreCompact { .. } => EventKind::PreCompact,
            Self::PostCompact { .. } => EventKind::PostCompact,
            Self::SessionEnd { .. } => EventKind::SessionEnd,
        }
    }

    /// The kind as stored in the queue and shown by `status` and `queue list`.
    pub const fn kind_name(&self) -> &'static str {
        self.kind().as_str()
    }
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    SessionStart,
    Prompt,
    Text,
    ToolUse,
    Stop,
    SubagentStop,
    PreCompact,
    PostCompact,
    SessionEnd,
    /// A kind in the queue that this version does not know.
    Unknown,
}

impl EventKind {
    const KNOWN: [Self; 9] = [
        Self::SessionStart,
        Self::Prompt,
        Self::Text,
        Self::ToolUse,
        Self::Stop,
        Self::SubagentStop,
        Self::PreCompact,
        Self::PostCompact,
        Self::SessionEnd,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "session_start",
            Self::Prompt => "prompt",
            Self::Text => "text",
            Self::ToolUse => "tool_use",
            Self::Stop => "stop",
            Self::SubagentStop => "subagent_stop",
            Self::PreCompact => "pre_compact",
            Self::PostCompact => "post_compact",
            Self::SessionEnd => "session_end",
            Self::Unknown => "unknown",
        }
    }

    pub fn from_name(name: &str) -> Self {
        Self::KNOWN.into_iter().find(|kind| kind.as_str() == name).unwrap_or(Self::Unknown)
    }
}

/// Permanent 16-byte identity of an event, the same from a hook and from a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventKey(pub [u8; 16]);
