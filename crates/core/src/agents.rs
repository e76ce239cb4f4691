//! The coding agents whose hooks we accept, one [`CodingAgent`] constant each.
//!
//! Invariant: the environment variables that a client sets for its hooks, and the prompt of its warm-up
//! subagents, are written here and nowhere else in the product.

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
    /// Its names for the events that we capture. All others are accepted and ignored.
    pub events: &'static [(&'static str, HookEventKind)],
    /// Environment variable with the session id, for payloads that lack it.
    pub session_variable: &'static str,
    /// Environment variable with the directory where the session began.
    pub project_variable: &'static str,
    /// Environment variable with the client's name and version.
    pub version_variable: &'static str,
    /// Its tools that open one file.
    pub file_tools: &'static [&'static str],
    /// Its tool that runs commands.
    pub shell_tool: &'static str,
}

/// The prompt of a subagent that Claude Code starts only to warm up.
pub const WARMUP_PROMPT: &str = "Warmup";

pub const AGENTS: &[&CodingAgent] = &[&CLAUDE_CODE];

pub const CLAUDE_CODE: CodingAgent = CodingAgent {
    name: "claude-code",
    events: &[
        ("PostToolUse", HookEventKind::ToolUse),
        ("PreToolUse", HookEventKind::BeforeTool),
        ("UserPromptSubmit", HookEventKind::Prompt),
        ("Stop", HookEventKind::Stop),
        ("SessionStart", HookEventKind::SessionStart),
        ("PostToolUseFailure", HookEventKind::ToolFailure),
        ("SubagentStop", HookEventKind::SubagentStop),
        ("PreCompact", HookEventKind::PreCompact),
        ("PostCompact", HookEventKind::PostCompact),
        ("SessionEnd", HookEventKind::SessionEnd),
    ],
    session_variable: "CLAUDE_CODE_SESSION_ID",
    project_variable: "CLAUDE_PROJECT_DIR",
    version_variable: "AI_AGENT",
    file_tools: &["Read", "Edit", "Write", "MultiEdit", "NotebookEdit"],
    shell_tool: "Bash",
};

impl HookEventKind {
    /// Whether the event reports a tool call that has ended.
    pub const fn is_tool_result(self) -> bool {
        matches!(self, Self::ToolUse | Self::ToolFailure)
    }
}

impl CodingAgent {
    pub fn by_name(name: &str) -> Option<&'static Self> {
        AGENTS.iter().find(|agent| agent.name == name).copied()
    }

    pub fn event_kind(&self, event: &str) -> Option<HookEventKind> {
        let known = self.events.iter().find(|(name, _)| *name == event);
        known.map(|(_, kind)| *kind)
    }

    pub fn event_name(&self, kind: HookEventKind) -> &'static str {
        let known = self.events.iter().find(|(_, known)| *known == kind);
        known.map_or("", |(name, _)| name)
    }
}

/// True for the tools of our own MCP server, whatever name it was installed under. They return
/// memories, which must not be captured again.
pub fn is_our_tool(tool: &str) -> bool {
    let Some(server) =
        tool.strip_prefix("mcp__").and_then(|rest| rest.rsplit_once("__")).map(|(server, _)| server)
    else {
        return false;
    };
    let server = server.to_ascii_lowercase().replace('_', "-");
    server.contains("claude-mem")
}

/// True for the tools that start a subagent or return its report.
pub fn starts_subagent(tool: &str) -> bool {
    matches!(tool, "Task" | "Agent" | "TaskOutput" | "AgentOutputTool")
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;
