//! [`CodingAgent`]: everything that we know about one client, as one value.

use serde_json::Value;

use super::client_files::ClientFileSpec;
use super::client_home::ClientHome;
use super::features::AgentFeatures;

/// Kind of a hook event, independent of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookEventKind {
    SessionStart,
    Prompt,
    /// Before a tool runs: nothing is captured, but memories may be recalled.
    BeforeTool,
    ToolUse,
    ToolFailure,
    Stop,
    SubagentStop,
    PreCompact,
    PostCompact,
    SessionEnd,
}

/// A coding agent that calls our hooks.
#[derive(Debug)]
pub struct CodingAgent {
    /// Its name in `claude-mem hook <name>` and in the database.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The versions that were run in tests, newest first.
    pub tested_versions: &'static [&'static str],
    /// How its program is found on this machine.
    pub program: ClientProgram,
    /// Its names for the events that we capture. All others are accepted and ignored.
    pub events: &'static [(&'static str, HookEventKind)],
    /// Environment variable with the session id, for payloads that lack it; empty if there is none.
    pub session_variable: &'static str,
    /// Environment variable with the directory where the session began; empty if there is none.
    pub project_variable: &'static str,
    /// Environment variable with the client's name and version; empty if there is none.
    pub version_variable: &'static str,
    /// Its tools that open one file, by our names.
    pub file_tools: &'static [&'static str],
    /// Its tool that runs commands, by our name.
    pub shell_tool: &'static str,
    /// When memories of a file reach the model.
    pub file_recall: FileRecallMoment,
    /// The fields of a hook's answer that it accepts.
    pub response: ResponseFields,
    /// Rewrites a hook payload of its own shape into ours; `None` if it has ours.
    pub rewrite_payload: Option<fn(Value) -> Value>,
    /// Finds the exit code of a command in the end of the transcript, for a client whose hooks do not tell
    /// it. The arguments are the transcript's last lines and the tool use id.
    pub find_exit_code: Option<fn(&str, &str) -> Option<i64>>,
    /// Its files in which we register. Empty for Claude Code, whose installation has its own code.
    pub files: &'static [ClientFileSpec],
    /// How its MCP client tells its name and its session.
    pub mcp_client: McpClientSpec,
    /// Its transcripts; `None` if they are not read.
    pub transcripts: Option<TranscriptSpec>,
    /// Which of our features work with this agent.
    pub features: AgentFeatures,
    /// A note for the user after the installation.
    pub install_note: Option<&'static str>,
    /// Advice for a user whose sessions ran no hook.
    pub silence_fix: &'static str,
}

/// How a client's program is found.
#[derive(Clone, Copy, Debug)]
pub struct ClientProgram {
    /// The name of its executable.
    pub command: &'static str,
    /// Its npm package, whose `package.json` names the version.
    pub package: &'static str,
    /// Its directory, which exists once it was used.
    pub home: ClientHome,
}

/// When memories of a file reach the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRecallMoment {
    /// The hook before the tool runs.
    BeforeTool,
    /// The hook after the tool has run.
    AfterTool,
    Never,
}

/// The fields of a hook's answer that a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseFields {
    /// `continue` and `suppressOutput` in every answer.
    WithFlow,
    /// Only context and message: the client rejects an answer with fields that it does not support.
    ContextOnly,
    /// Only context and message, and the context is a field of the answer itself.
    PlainContext,
}

/// How a client that calls our MCP server tells its name and its session.
#[derive(Clone, Copy, Debug)]
pub struct McpClientSpec {
    /// How the name begins that it gives itself in `initialize`.
    pub name_prefix: &'static str,
    /// JSON pointer to the session id in the parameters of a call; `None` if it is not there.
    pub session_pointer: Option<&'static str>,
    /// How the names of its family of clients begin, if these hide the text of a result from the model when there
    /// is structured content.
    pub text_hiding_prefix: Option<&'static str>,
}

/// A client's transcripts.
#[derive(Clone, Copy, Debug)]
pub struct TranscriptSpec {
    /// The directory that they are below.
    pub folder: ClientHome,
    /// How the name of a transcript begins.
    pub file_prefix: &'static str,
    /// A file with the working directory, relative to the folder of the transcript, for transcripts that do
    /// not tell it.
    pub directory_file: Option<&'static str>,
    /// The database in `folder` in which the client keeps its sessions; `None` if they are files. A line is then
    /// one message, as the store renders it.
    pub database: Option<&'static str>,
    /// The transcripts of Claude Code themselves need no translation.
    pub translate: Option<LineTranslator>,
}

/// Translates one line of a transcript into records of the shape that Claude Code writes; `None` if the line
/// cannot be parsed.
pub type LineTranslator = fn(&str) -> Option<Vec<Value>>;

impl HookEventKind {
    /// Whether the event reports a tool call that has ended.
    pub const fn is_tool_result(self) -> bool {
        matches!(self, Self::ToolUse | Self::ToolFailure)
    }
}

impl CodingAgent {
    pub fn event_kind(&self, event: &str) -> Option<HookEventKind> {
        let known = self.events.iter().find(|(name, _)| *name == event);
        known.map(|(_, kind)| *kind)
    }

    /// The client's name for a kind of event. A client without an event for failed tools reports them as
    /// used.
    pub fn event_name(&self, kind: HookEventKind) -> &'static str {
        let known = |kind| self.events.iter().find(|(_, known)| *known == kind);
        let or_used = || known(HookEventKind::ToolUse).filter(|_| kind == HookEventKind::ToolFailure);
        known(kind).or_else(or_used).map_or("", |(name, _)| name)
    }
}

impl ResponseFields {
    /// The answer of a hook that has nothing to add: continue and show nothing.
    pub const fn neutral(self) -> &'static str {
        match self {
            Self::WithFlow => r#"{"continue":true,"suppressOutput":true}"#,
            Self::ContextOnly | Self::PlainContext => "{}",
        }
    }
}
