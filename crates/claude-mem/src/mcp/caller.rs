//! [`McpCaller`]: which agent calls the server, and from which session.

use serde_json::Value;

use claude_mem_core::agents::{AGENTS, CLAUDE_CODE, CodingAgent};

/// The client's name in the database if no agent of ours calls.
const UNKNOWN_CLIENT: &str = "mcp";

/// The agent and the session that call. The agent is told by `initialize`, not by the environment: an agent that
/// another one has started inherits its variables.
#[derive(Debug, Default)]
pub(crate) struct McpCaller {
    agent: Option<&'static CodingAgent>,
    /// The sessions of the environment, each with its agent.
    inherited: Vec<(&'static str, String)>,
    /// The session that the current call names.
    named: Option<String>,
}

impl McpCaller {
    /// The caller before it has introduced itself: Claude Code if the environment has a session of it.
    pub(crate) fn from_environment(env: impl Fn(&str) -> Option<String>) -> Self {
        let variables = AGENTS.iter().filter(|agent| !agent.session_variable.is_empty());
        let inherited: Vec<_> = variables
            .filter_map(|agent| Some((agent.name, env(agent.session_variable)?)))
            .filter(|(_, session)| !session.is_empty())
            .collect();
        let is_claude_code = inherited.iter().any(|(name, _)| *name == CLAUDE_CODE.name);
        Self { agent: is_claude_code.then_some(&CLAUDE_CODE), inherited, named: None }
    }

    /// Reads the parameters of `initialize`.
    pub(crate) fn introduce(&mut self, params: &Value) {
        let name = params.pointer("/clientInfo/name").and_then(Value::as_str);
        // A client that we do not know was started by the agent of the environment, if there is one.
        if let Some(agent) = name.and_then(CodingAgent::by_mcp_client) {
            self.agent = Some(agent);
        }
    }

    /// Reads the parameters of `tools/call`.
    pub(crate) fn begin_call(&mut self, params: &Value) {
        let pointer = self.agent.and_then(|agent| agent.mcp_client.session_pointer);
        let named = pointer.and_then(|pointer| params.pointer(pointer)?.as_str());
        self.named = named.filter(|session| !session.is_empty()).map(str::to_owned);
    }

    /// Its name in the database.
    pub(crate) fn client(&self) -> &'static str {
        self.agent.map_or(UNKNOWN_CLIENT, |agent| agent.name)
    }

    /// Whether an agent that we know calls.
    pub(crate) const fn is_known(&self) -> bool {
        self.agent.is_some()
    }

    /// The client's session id, if the call or the environment tells it.
    pub(crate) fn session(&self) -> Option<&str> {
        let own = self.inherited.iter().find(|(name, _)| *name == self.client());
        self.named.as_deref().or(own.map(|(_, session)| session.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn introduced(name: &str) -> McpCaller {
        let mut caller = McpCaller::from_environment(|variable| {
            (variable == CLAUDE_CODE.session_variable).then(|| "c-1".to_owned())
        });
        caller.introduce(&json!({ "clientInfo": { "name": name } }));
        caller
    }

    #[test]
    fn caller_is_who_it_says() {
        for (name, client, session) in [
            ("claude-code", "claude-code", Some("c-1")),
            ("codex-mcp-client", "codex", None),
            ("gemini-cli-mcp-client", "gemini-cli", None),
            ("opencode", "opencode", None),
            ("qwen-cli-mcp-client-claude-mem", "qwen-code", None),
            ("copilot-cli", "copilot-cli", None),
            ("some-editor", "claude-code", Some("c-1")),
        ] {
            let caller = introduced(name);
            assert_eq!((caller.client(), caller.session()), (client, session), "{name}");
        }
        let mut other = McpCaller::from_environment(|_| None);
        other.introduce(&json!({ "clientInfo": { "name": "some-editor" } }));
        assert_eq!((other.client(), other.is_known()), ("mcp", false));
    }

    #[test]
    fn call_of_codex_names_its_session() {
        let mut caller = introduced("codex-mcp-client");
        caller.begin_call(&json!({ "_meta": { "x-codex-turn-metadata": { "session_id": "x-1" } } }));
        assert_eq!(caller.session(), Some("x-1"));
        caller.begin_call(&json!({ "name": "search" }));
        assert_eq!(caller.session(), None);
        let mut claude = introduced("claude-code");
        claude.begin_call(&json!("a session of no one"));
        assert_eq!(claude.session(), Some("c-1"), "its calls name none");
    }
}
