//! The coding agents whose sessions we remember: one folder with one [`CodingAgent`] value each, and the
//! table [`AGENTS`].
//!
//! A value says how the client is found, where it is registered, which events and tools it has, how context
//! reaches its model, and how its transcripts are read. To add an agent, add its folder and its line in the
//! table. Payloads and transcripts are rewritten into one shape, that of Claude Code, so that everything after
//! that is written once.
//!
//! Invariant: the names that belong to a client are written below this folder and nowhere else in the
//! product. The functions here are pure.

mod claude_code;
mod client_files;
mod client_home;
mod codex;
mod coding_agent;
mod copilot_cli;
mod features;
mod features_table;
mod gemini_cli;
mod opencode;
mod qwen_code;
mod record;

pub use claude_code::{CLAUDE_CODE, MANAGED_SETTINGS, WARMUP_PROMPT};
pub use client_files::{
    ClientEntries, ClientFileSpec, DATA_DIR_MARK, EXECUTABLE_MARK, HookShape, OWN_FILE_HEAD, ServerShape,
    TimeoutUnit,
};
pub use client_home::ClientHome;
pub use codex::CODEX;
pub use coding_agent::{
    ClientProgram, CodingAgent, FileRecallMoment, HookEventKind, LineTranslator, McpClientSpec,
    ResponseFields, TranscriptSpec,
};
pub use copilot_cli::COPILOT_CLI;
pub use features::{AgentFeatures, FeatureSupport};
pub use features_table::features_markdown;
pub use gemini_cli::GEMINI_CLI;
pub use opencode::OPENCODE;
pub use qwen_code::QWEN_CODE;
pub use record::derived_call_id;

/// All agents, in the order in which they are shown.
pub const AGENTS: &[&CodingAgent] = &[&CLAUDE_CODE, &CODEX, &GEMINI_CLI, &OPENCODE, &QWEN_CODE, &COPILOT_CLI];

impl CodingAgent {
    pub fn by_name(name: &str) -> Option<&'static Self> {
        AGENTS.iter().find(|agent| agent.name == name).copied()
    }

    /// The agent whose MCP client calls itself `name`.
    pub fn by_mcp_client(name: &str) -> Option<&'static Self> {
        AGENTS.iter().find(|agent| name.starts_with(agent.mcp_client.name_prefix)).copied()
    }

    /// Whether an MCP client of this name, in lower case, hides the text of a result that has structured content.
    pub fn mcp_client_hides_text(name: &str) -> bool {
        let mut prefixes = AGENTS.iter().filter_map(|agent| agent.mcp_client.text_hiding_prefix);
        prefixes.any(|prefix| name.starts_with(prefix))
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
mod agents_tests;
