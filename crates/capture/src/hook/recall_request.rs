//! [`HookRecallRequest`]: what the response to a hook depends on.

use std::time::Duration;

use super::environment::StartNotices;
use super::resources::HookResources;
use crate::payload::{ClientPayload, PayloadHeader};
use crate::settings::HookSettings;
use claude_mem_core::agents::{CodingAgent, FileRecallMoment, HookEventKind};
use claude_mem_core::client_version::ClientVersion;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::{EventBody, ProjectHint};
use claude_mem_core::limits::HOOK_FILE_MS;
use claude_mem_recall::recall::RecalledMemory;
use claude_mem_recall::recall_request::RecallTarget;

/// CPU milliseconds that recall may cost a hook at the start of a session.
const HOOK_START_MS: u64 = 400;

/// CPU milliseconds that recall may cost a hook with a prompt or after a failure.
const HOOK_MOMENT_MS: u64 = 150;

/// Everything that the response to a hook depends on, except for the stored memories.
#[derive(Debug)]
pub(super) struct HookRecallRequest<'a> {
    pub(super) agent: &'static CodingAgent,
    pub(super) kind: HookEventKind,
    pub(super) header: &'a PayloadHeader,
    pub(super) project: Option<&'a ProjectHint>,
    pub(super) trigger: RecallTrigger<'a>,
    pub(super) settings: &'a HookSettings,
    pub(super) now: Millis,
    /// The client's version, if the client announces it.
    pub(super) client_version: Option<ClientVersion>,
    /// Finds the notices for the person at session start.
    pub(super) notices: StartNotices,
    /// Nothing of this turn may be stored, not even which memories were shown.
    pub(super) is_unrecorded: bool,
}

/// The subject of a recall. Redacted, except for a path, which is only looked up.
#[derive(Debug)]
pub(super) enum RecallTrigger<'a> {
    Nothing,
    Prompt(&'a str),
    /// The path of a file that is read or changed.
    File(String),
    /// The output of a failed command.
    Failure(String),
}

impl<'a> RecallTrigger<'a> {
    /// The file that a tool is about to open.
    pub(super) fn from_tool_input(wire: &ClientPayload<'_>) -> Self {
        #[derive(serde::Deserialize)]
        struct FileToolInput {
            #[serde(alias = "notebook_path")]
            file_path: String,
        }
        let input = wire.tool_input.and_then(|raw| serde_json::from_str::<FileToolInput>(raw.get()).ok());
        input.map_or(Self::Nothing, |input| Self::File(input.file_path))
    }

    /// The trigger of a normalized event.
    pub(super) fn from_event(agent: &CodingAgent, body: &'a EventBody) -> Self {
        match body {
            EventBody::Prompt { text, private: false, .. } => Self::Prompt(text),
            EventBody::ToolUse { tool, output, failed: true, .. } if tool == agent.shell_tool => {
                Self::Failure(output.as_str().map_or_else(|| output.to_string(), str::to_owned))
            }
            EventBody::ToolUse { tool, input, failed: false, .. }
                if agent.file_recall == FileRecallMoment::AfterTool
                    && agent.file_tools.contains(&tool.as_str()) =>
            {
                let path = input.get("file_path").and_then(serde_json::Value::as_str);
                path.map_or(Self::Nothing, |path| Self::File(path.to_owned()))
            }
            _ => Self::Nothing,
        }
    }
}

/// Text for the agent and message for the user; empty means nothing.
#[derive(Debug, Default)]
pub(super) struct RecallOutput {
    pub(super) text: String,
    pub(super) message: String,
}

impl HookRecallRequest<'_> {
    pub(super) fn session(&self) -> &str {
        self.header.session.as_deref().unwrap_or_default()
    }

    pub(super) fn recipient(&self) -> RecallTarget {
        RecallTarget {
            client: self.agent.name.to_owned(),
            session: self.session().to_owned(),
            agent_id: self.header.agent_id.clone().unwrap_or_default(),
        }
    }

    /// CPU time that reading memories may take.
    pub(super) const fn read_limit(&self) -> Duration {
        Duration::from_millis(match self.kind {
            HookEventKind::SessionStart => HOOK_START_MS,
            HookEventKind::BeforeTool | HookEventKind::ToolUse => HOOK_FILE_MS,
            _ => HOOK_MOMENT_MS,
        })
    }

    /// Records the shown memories in the feedback ledger. If that fails they are shown anyway: at worst
    /// they are shown twice.
    pub(super) fn record_shown(
        &self,
        resources: &mut HookResources<'_>,
        place: &str,
        brought: &[RecalledMemory],
    ) {
        if brought.is_empty() || self.is_unrecorded {
            return;
        }
        let recipient = self.recipient();
        let shown = recipient.shown_entries(place, brought, self.now);
        resources.write_best_effort("shown memories", |inbox| inbox.record_feedback(&shown));
    }
}
