//! [`AgentChoice`]: the agents to install for.

use claude_mem_core::agents::{AGENTS, CodingAgent};

/// The agents that an installation is for.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) enum AgentChoice {
    /// Those that are registered already.
    #[default]
    Registered,
    /// Claude Code; the others are only mentioned.
    ClaudeCode,
    /// All that are on this machine.
    Found,
    /// All that are on this machine, if the user agrees.
    Asked,
    Named(Vec<&'static CodingAgent>),
}

/// Parses the name of an agent on the command line.
pub(in crate::cli) fn parse_agent(name: &str) -> Result<&'static CodingAgent, String> {
    CodingAgent::by_name(name).ok_or_else(|| format!("use {}", agent_names()))
}

/// The names of all agents, for help texts and messages.
pub(in crate::cli) fn agent_names() -> String {
    let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
    names.join(", ")
}
