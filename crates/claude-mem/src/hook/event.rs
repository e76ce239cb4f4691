//! What we keep of a hook call: the domain's side of `wire`.
//!
//! An `Event` is redacted before it exists outside the hook's memory. It is written to the queue
//! (or the spool) as JSON and read back by the worker, maybe of a later version, so fields are
//! only ever added, with a default.

use serde::{Deserialize, Serialize};

use crate::clock::Micros;
use crate::ids::ClientSessionId;

/// One accepted hook call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// `claude-code`; a name from `agents`.
    pub client: String,
    pub session: ClientSessionId,
    /// The hook's start: order within a session.
    pub at: Micros,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectHint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// Inside a subagent: its id and kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript_path: Option<String>,
    /// The input was longer than the limit; the body holds what a prefix scan found.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    pub body: Body,
}

/// Where the work happens, read from `.git` files by the hook; the store makes a project of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectHint {
    /// What a person calls it: the last part of the remote or of the path.
    pub name: String,
    /// Identity, strongest first: `remote:…`, `git:…`, `path:…`. All name the same project.
    pub keys: Vec<String>,
    pub root: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Body {
    SessionStart {
        /// `startup`, `resume`, `clear`, `compact`, `fork`.
        source: String,
    },
    Prompt {
        text: String,
        /// Nothing but private text: the words are gone, and so is the rest of the turn.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        private: bool,
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

impl Body {
    /// The column that `status` and `queue list` show.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::SessionStart { .. } => "session_start",
            Self::Prompt { .. } => "prompt",
            Self::ToolUse { .. } => "tool_use",
            Self::Stop { .. } => "stop",
            Self::SubagentStop { .. } => "subagent_stop",
            Self::PreCompact { .. } => "pre_compact",
            Self::PostCompact { .. } => "post_compact",
            Self::SessionEnd { .. } => "session_end",
        }
    }
}

/// Sixteen bytes that name an event for ever, whichever witness (hook or transcript) reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventKey(pub [u8; 16]);
