//! The client's files in the sandbox: its state, its settings, our hooks and our MCP server.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{DUMMY_KEY, Sandbox};

/// The hook events that claude-mem answers.
pub const EVENTS: [&str; 10] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
];

impl Sandbox {
    /// Replaces `~/.claude/settings.json`.
    pub fn settings(&self, settings: &Value) {
        self.write(
            self.home.join(".claude/settings.json"),
            settings.to_string(),
        );
    }

    /// Replaces the user's settings by one command hook per event, leaving out the events that
    /// the sandbox's client does not know.
    pub fn hooks(&self, events: &[&str], command: impl Fn(&str) -> String) {
        let known = |event: &&&str| self.client.as_ref().is_none_or(|c| c.knows_event(event));
        let entry = |event: &&str| {
            let hook = json!({"type": "command", "command": command(event)});
            ((*event).to_owned(), json!([{"hooks": [hook]}]))
        };
        let hooks: Map<String, Value> = events.iter().filter(known).map(entry).collect();
        self.settings(&json!({ "hooks": hooks }));
    }

    /// Hooks of the executable under test for every event it answers.
    pub fn hooks_for(&self, exe: &Path) {
        let exe = quoted(exe);
        self.hooks(&EVENTS, |event| format!("{exe} hook claude-code {event}"));
    }

    /// Registers the executable as the user's MCP server `claude-mem`, its tools always loaded.
    pub fn mcp_for(&self, exe: &Path) {
        let server = json!({
            "type": "stdio", "command": exe, "args": ["mcp"], "alwaysLoad": true,
            "env": {"HOME": self.home, "CLAUDE_MEM_DATA_DIR": self.data_dir()},
        });
        self.change_client_state(|state| state["mcpServers"]["claude-mem"] = server);
    }

    /// What a client that has been used before has in `~/.claude.json`: it asks no questions.
    pub(super) fn seed_client_state(&self) {
        let tail = &DUMMY_KEY[DUMMY_KEY.len() - 20..];
        let project = json!({
            "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": [],
        });
        let mut projects = Map::new();
        projects.insert(self.project.to_string_lossy().into_owned(), project);
        let state = json!({
            "hasCompletedOnboarding": true, "theme": "dark", "numStartups": 10,
            "customApiKeyResponses": {"approved": [tail], "rejected": []},
            "projects": projects, "mcpServers": {},
        });
        self.write(self.home.join(".claude.json"), state.to_string());
    }

    fn change_client_state(&self, change: impl FnOnce(&mut Value)) {
        let path = self.home.join(".claude.json");
        let mut state =
            serde_json::from_str(&self.read(&path)).expect("the client's state is JSON");
        change(&mut state);
        self.write(&path, state.to_string());
    }
}

/// One word for the shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}
