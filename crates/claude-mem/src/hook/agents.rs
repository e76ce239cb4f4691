//! The clients whose hooks we take: one constant each, and nothing about them anywhere else.

/// What a hook call is about, in our words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    SessionStart,
    Prompt,
    /// Before a tool runs: nothing is kept, but something may be recalled.
    BeforeTool,
    ToolUse,
    ToolFailure,
    Stop,
    SubagentStop,
    PreCompact,
    PostCompact,
    SessionEnd,
}

/// One client.
#[derive(Debug)]
pub struct Agent {
    /// Its name in `claude-mem hook <name>` and in the database.
    pub name: &'static str,
    /// Its names for events that we take. All others are accepted and ignored.
    pub events: &'static [(&'static str, Kind)],
}

pub const AGENTS: &[&Agent] = &[&CLAUDE_CODE];

pub const CLAUDE_CODE: Agent = Agent {
    name: "claude-code",
    events: &[
        ("PostToolUse", Kind::ToolUse),
        ("PreToolUse", Kind::BeforeTool),
        ("UserPromptSubmit", Kind::Prompt),
        ("Stop", Kind::Stop),
        ("SessionStart", Kind::SessionStart),
        ("PostToolUseFailure", Kind::ToolFailure),
        ("SubagentStop", Kind::SubagentStop),
        ("PreCompact", Kind::PreCompact),
        ("PostCompact", Kind::PostCompact),
        ("SessionEnd", Kind::SessionEnd),
    ],
};

impl Agent {
    pub fn named(name: &str) -> Option<&'static Self> {
        AGENTS.iter().find(|agent| agent.name == name).copied()
    }

    pub fn kind_of(&self, event: &str) -> Option<Kind> {
        let known = self.events.iter().find(|(name, _)| *name == event);
        known.map(|(_, kind)| *kind)
    }

    pub fn event_name(&self, kind: Kind) -> &'static str {
        let known = self.events.iter().find(|(_, known)| *known == kind);
        known.map_or("", |(name, _)| name)
    }
}

/// True for the tools of our own MCP server, under whatever name it was installed: what they
/// return is memory, and memory must not feed on itself.
pub fn is_our_tool(tool: &str) -> bool {
    let Some(server) = tool
        .strip_prefix("mcp__")
        .and_then(|rest| rest.rsplit_once("__"))
        .map(|(server, _)| server)
    else {
        return false;
    };
    let server = server.to_ascii_lowercase().replace('_', "-");
    server.contains("claude-mem")
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;
