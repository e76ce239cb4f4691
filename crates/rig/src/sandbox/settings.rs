//! The client's files in the sandbox: its state, its settings, our hooks and our MCP server.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{DUMMY_KEY, Sandbox};

/// The hook events that claude-mem handles.
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
    pub fn write_settings(&self, settings: &Value) {
        self.write(self.home.join(".claude/settings.json"), settings.to_string());
    }

    /// Replaces the user's settings by one command hook per event, without the events that the
    /// sandbox's client does not know.
    pub fn write_hooks(&self, events: &[&str], command: impl Fn(&str) -> String) {
        let known = |event: &&&str| self.client.as_ref().is_none_or(|c| c.knows_event(event));
        let entry = |event: &&str| {
            let hook = json!({"type": "command", "command": command(event)});
            ((*event).to_owned(), json!([{"hooks": [hook]}]))
        };
        let hooks: Map<String, Value> = events.iter().filter(known).map(entry).collect();
        self.write_settings(&json!({ "hooks": hooks }));
    }

    /// Installs the hooks of this executable for every event that it handles.
    pub fn install_hooks(&self, exe: &Path) {
        let exe = shell_quoted(exe);
        self.write_hooks(&EVENTS, |event| format!("{exe} hook claude-code {event}"));
    }

    /// Registers this executable as the user's MCP server `claude-mem`, with its tools always loaded.
    pub fn install_mcp_server(&self, exe: &Path) {
        let server = json!({
            "type": "stdio", "command": exe, "args": ["mcp"], "alwaysLoad": true,
            "env": {"HOME": self.home, "CLAUDE_MEM_DATA_DIR": self.data_dir()},
        });
        self.change_client_state(|state| state["mcpServers"]["claude-mem"] = server);
    }

    /// Writes `~/.claude.json` as after earlier use, so that the client shows no first-run dialogs.
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
        let mut state = serde_json::from_str(&self.read(&path)).expect("the client's state is JSON");
        change(&mut state);
        self.write(&path, state.to_string());
    }
}

/// Quotes a path as one shell word.
fn shell_quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}
