use serde_json::json;

use super::*;
use crate::install::json::input_to_value;
use claude_mem_core::client_version::ClientVersion;

fn launch(version: ClientVersion, executable: &str) -> LaunchSpec {
    LaunchSpec {
        executable: executable.into(),
        data_dir: None,
        capabilities: ClientCapabilities::for_version(Some(version)),
    }
}

const NEW: ClientVersion = ClientVersion(2, 1, 325);
const OLD: ClientVersion = ClientVersion(2, 0, 77);

#[test]
fn hook_form_depends_on_version() {
    let new = launch(NEW, "/opt/my tools/claude-mem");
    assert_eq!(
        input_to_value(&new.hook_group("Stop")),
        json!({"hooks": [{
            "type": "command", "command": "/opt/my tools/claude-mem",
            "args": ["hook", "claude-code", "Stop"], "timeout": 10,
        }]})
    );
    let old = launch(OLD, "/opt/my tools/claude-mem");
    assert_eq!(
        input_to_value(&old.hook_group("PreToolUse")),
        json!({"matcher": "Read|Edit|Write|MultiEdit|NotebookEdit", "hooks": [{
            "type": "command",
            "command": "'/opt/my tools/claude-mem' hook claude-code PreToolUse", "timeout": 10,
        }]})
    );
}

#[test]
fn custom_data_directory_is_passed_on() {
    let there = LaunchSpec { data_dir: Some("/data/it's".into()), ..launch(OLD, "/bin/claude-mem") };
    assert_eq!(
        there.command("Stop").1[1],
        r"/bin/claude-mem hook claude-code Stop --data-dir '/data/it'\''s'"
    );
    let server = input_to_value(&there.server_entry());
    assert_eq!(server["args"], json!(["--data-dir", "/data/it's", "mcp"]));
    assert_eq!(server_owner(&server), EntryOwner::Ours);
}

#[test]
fn our_entries_are_recognised_in_every_form() {
    for version in [NEW, OLD] {
        for path in ["/usr/bin/claude-mem", "/my tools/claude-mem", "/it's/claude-mem"] {
            let group = input_to_value(&launch(version, path).hook_group("Stop"));
            assert_eq!(hook_owner(&group["hooks"][0]), EntryOwner::Ours, "{group}");
        }
    }
    for line in [
        "claude-mem hook claude-code Stop",
        "~/.local/bin/claude-mem hook claude-code SessionStart",
        "\"/a b/claude-mem\" hook claude-code Stop",
        "claude-mem context",
        "/usr/bin/claude-mem summary",
    ] {
        assert_eq!(hook_owner(&json!({ "command": line })), EntryOwner::Ours, "{line}");
    }
}

#[test]
fn similar_commands_are_not_ours() {
    for line in [
        "/home/me/claude-mem/format.sh",
        "cd ~/claude-mem && make",
        "echo claude-mem hook claude-code Stop",
        "claude-mem search x",
        "claude-mem save 'a fact'",
        "my-claude-mem hook claude-code Stop",
        "claude-mem hook claude-code Stop && notify-send done",
        "claude-mem hook claude-code Stop; make",
        "",
    ] {
        assert_eq!(hook_owner(&json!({ "command": line })), EntryOwner::Foreign, "{line}");
    }
    let served = json!({ "type": "http", "url": "http://127.0.0.1:1/claude-mem" });
    assert_eq!(hook_owner(&served), EntryOwner::Foreign);
}

#[test]
fn legacy_program_is_recognised_by_its_scripts() {
    for line in [
        "node \"$HOME/.claude/plugins/marketplaces/thedotmack/plugin/scripts/worker-service.cjs\" start",
        "node /home/me/.claude-mem/hooks/session-start.js",
        "bun /opt/claude-mem/plugin/scripts/save-hook.js",
    ] {
        assert_eq!(hook_owner(&json!({ "command": line })), EntryOwner::Legacy, "{line}");
    }
    let server = json!({ "command": "node", "args": ["/x/claude-mem/scripts/mcp-server.cjs"] });
    assert_eq!(server_owner(&server), EntryOwner::Legacy);
}

#[test]
fn running_executable_is_ours_under_any_name() {
    let program = std::env::current_exe().unwrap();
    assert_ne!(program.file_name(), Some(crate::install::NAME.as_ref()));
    let hook = json!({ "command": program, "args": ["hook", "claude-code", "Stop"] });
    assert_eq!(hook_owner(&hook), EntryOwner::Ours);
    assert_eq!(server_owner(&json!({ "command": program, "args": ["mcp"] })), EntryOwner::Ours);
    let longer = json!({ "command": program, "args": ["hook", "claude-code", "Stop", "x"] });
    assert_eq!(hook_owner(&longer), EntryOwner::Foreign);
}
