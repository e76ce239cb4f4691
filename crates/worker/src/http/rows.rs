//! The JSON views of rows. [`ViewBuilder`](super::view_builder::ViewBuilder) makes them.

use schemars::JsonSchema;
use serde::Serialize;

use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{
    AccountId, ClientSessionId, FinalMessageId, ObservationId, ProjectId, PromptId, SessionId, SummaryId,
};
use claude_mem_core::memory::{ObservationType, Origin};

use claude_mem_store::{MemoryLevel, RowId, RowKind, SessionStatus};

/// The project of a row.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct ProjectRef {
    pub(super) id: ProjectId,
    pub(super) name: String,
}

/// The coding agent of a row's session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct AgentRef {
    /// `claude-code`, `codex`, …: the value of the filter `agent`.
    pub(super) name: String,
    /// Its name for people.
    pub(super) title: String,
}

/// The session of a row.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionRef {
    pub(super) id: SessionId,
    pub(super) client_session: ClientSessionId,
    pub(super) title: Option<String>,
}

/// A row of any kind.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Row")]
pub(super) enum RowView {
    Observation(Box<ObservationView>),
    Summary(Box<SummaryView>),
    Prompt(PromptView),
    Message(MessageView),
    Account(Box<AccountView>),
}

/// An observation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct ObservationView {
    pub(super) id: ObservationId,
    pub(super) handle: String,
    pub(super) kind: RowKind,
    #[serde(rename = "type")]
    pub(super) observation_type: ObservationType,
    pub(super) title: String,
    pub(super) subtitle: String,
    pub(super) narrative: String,
    pub(super) facts: Vec<String>,
    pub(super) concepts: Vec<String>,
    pub(super) files_read: Vec<String>,
    pub(super) files_modified: Vec<String>,
    pub(super) project: Option<ProjectRef>,
    pub(super) session: Option<SessionRef>,
    pub(super) agent: Option<AgentRef>,
    pub(super) prompt_number: u32,
    pub(super) level: MemoryLevel,
    pub(super) branch: Option<String>,
    pub(super) agent_type: Option<String>,
    pub(super) origin: Origin,
    pub(super) made_by: String,
    pub(super) discovery_tokens: u32,
    pub(super) read_tokens: u32,
    pub(super) pinned: bool,
    pub(super) wrong: bool,
    pub(super) replaced_by: Option<ObservationId>,
    /// The member of the team who recorded it; absent for the user's own rows. `origin` then refers to that
    /// member's session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) who: Option<String>,
    /// Another member's row that reads like an instruction: it is never offered to an agent unasked.
    pub(super) held_back: bool,
    /// A person changed its text.
    pub(super) edited: bool,
    /// How many sessions said it.
    pub(super) source_count: u32,
    /// The number that was asked for, if that is now part of this observation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) formerly: Option<String>,
    pub(super) created_at: Millis,
    pub(super) updated_at: Millis,
}

/// The summary of a turn.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SummaryView {
    pub(super) id: SummaryId,
    pub(super) handle: String,
    pub(super) kind: RowKind,
    pub(super) request: String,
    pub(super) investigated: String,
    pub(super) learned: String,
    pub(super) completed: String,
    pub(super) next_steps: String,
    pub(super) notes: String,
    pub(super) files_read: Vec<String>,
    pub(super) files_edited: Vec<String>,
    pub(super) project: Option<ProjectRef>,
    pub(super) session: Option<SessionRef>,
    pub(super) agent: Option<AgentRef>,
    pub(super) prompt_number: u32,
    pub(super) branch: Option<String>,
    pub(super) origin: Origin,
    pub(super) made_by: String,
    pub(super) discovery_tokens: u32,
    pub(super) read_tokens: u32,
    pub(super) created_at: Millis,
}

/// A prompt.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptView {
    pub(super) id: PromptId,
    pub(super) handle: String,
    pub(super) kind: RowKind,
    pub(super) text: String,
    pub(super) private: bool,
    /// `user` only if a person typed it; the client submits plans and reports as prompts, too.
    pub(super) origin: Origin,
    pub(super) number: u32,
    pub(super) project: Option<ProjectRef>,
    pub(super) session: Option<SessionRef>,
    pub(super) agent: Option<AgentRef>,
    pub(super) created_at: Millis,
}

/// The agent's final message of a turn.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageView {
    pub(super) id: FinalMessageId,
    pub(super) handle: String,
    pub(super) kind: RowKind,
    pub(super) text: String,
    pub(super) prompt_number: u32,
    pub(super) agent_type: Option<String>,
    pub(super) project: Option<ProjectRef>,
    pub(super) session: Option<SessionRef>,
    pub(super) agent: Option<AgentRef>,
    pub(super) created_at: Millis,
}

/// The account of a whole session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AccountView {
    pub(super) id: AccountId,
    pub(super) handle: String,
    pub(super) kind: RowKind,
    /// The purpose of the session.
    pub(super) purpose: String,
    pub(super) done: Vec<String>,
    pub(super) learned: Vec<String>,
    pub(super) decided: Vec<String>,
    /// Checks that ran after the last edit.
    pub(super) checked: Vec<String>,
    pub(super) open: Vec<String>,
    pub(super) files_edited: Vec<String>,
    pub(super) project: Option<ProjectRef>,
    pub(super) session: Option<SessionRef>,
    pub(super) agent: Option<AgentRef>,
    pub(super) branch: Option<String>,
    pub(super) origin: Origin,
    /// The member of the team who recorded it; absent for the user's own rows. `origin` then refers to that
    /// member's session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) who: Option<String>,
    /// Another member's row that reads like an instruction: it is never offered to an agent unasked.
    pub(super) held_back: bool,
    pub(super) made_by: String,
    pub(super) read_tokens: u32,
    pub(super) created_at: Millis,
}

/// A session with its counts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionView {
    pub(super) id: SessionId,
    pub(super) client: String,
    pub(super) agent: AgentRef,
    pub(super) client_session: ClientSessionId,
    pub(super) project: Option<ProjectRef>,
    pub(super) branch: Option<String>,
    /// The first prompt of the session.
    pub(super) title: Option<String>,
    pub(super) status: SessionStatus,
    pub(super) prompt_counter: u32,
    pub(super) created_at: Millis,
    pub(super) last_activity_at: Millis,
    pub(super) completed_at: Option<Millis>,
    pub(super) observations: u64,
    pub(super) summaries: u64,
    /// Its purpose, from its account.
    pub(super) purpose: Option<String>,
    /// Its result, from its account or its last summary.
    pub(super) outcome: Option<String>,
    /// Files that it edited.
    pub(super) files_edited: Vec<String>,
    /// How many files it edited; more than are listed.
    pub(super) files: u64,
}

/// The handle of a row as users see it, such as `#12`.
pub(super) fn handle(kind: RowKind, row_id: i64) -> String {
    RowId::new(kind, row_id).to_string()
}

impl RowView {
    /// The kind of the row, which is also the name of its stream event.
    pub(super) const fn kind(&self) -> RowKind {
        match self {
            Self::Observation(_) => RowKind::Observation,
            Self::Summary(_) => RowKind::Summary,
            Self::Prompt(_) => RowKind::Prompt,
            Self::Message(_) => RowKind::Message,
            Self::Account(_) => RowKind::Account,
        }
    }

    pub(super) const fn id(&self) -> i64 {
        match self {
            Self::Observation(row) => row.id.0,
            Self::Summary(row) => row.id.0,
            Self::Prompt(row) => row.id.0,
            Self::Message(row) => row.id.0,
            Self::Account(row) => row.id.0,
        }
    }

    pub(super) fn session(&self) -> Option<SessionId> {
        let session = match self {
            Self::Observation(row) => &row.session,
            Self::Summary(row) => &row.session,
            Self::Prompt(row) => &row.session,
            Self::Message(row) => &row.session,
            Self::Account(row) => &row.session,
        };
        session.as_ref().map(|session| session.id)
    }

    pub(super) fn created_at(&self) -> Millis {
        match self {
            Self::Observation(row) => row.created_at,
            Self::Summary(row) => row.created_at,
            Self::Prompt(row) => row.created_at,
            Self::Message(row) => row.created_at,
            Self::Account(row) => row.created_at,
        }
    }
}
