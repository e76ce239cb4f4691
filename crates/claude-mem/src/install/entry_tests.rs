use serde_json::json;

use super::*;
use crate::install::json::meaning_of;
use crate::install::version::Version;

fn launch(version: Version, executable: &str) -> Launch {
    Launch {
        executable: executable.into(),
        data_dir: None,
        abilities: Abilities::of(Some(version)),
    }
}

const NEW: Version = Version(2, 1, 325);
const OLD: Version = Version(2, 0, 77);

#[test]
fn each_version_is_given_the_form_that_it_knows() {
    let new = launch(NEW, "/opt/my tools/claude-mem");
    assert_eq!(
        meaning_of(&new.group("Stop")),
        json!({"hooks": [{
            "type": "command", "command": "/opt/my tools/claude-mem",
            "args": ["hook", "claude-code", "Stop"], "timeout": 10,
        }]})
    );
    let old = launch(OLD, "/opt/my tools/claude-mem");
    assert_eq!(
        meaning_of(&old.group("PreToolUse")),
        json!({"matcher": "Read|Edit|Write|MultiEdit|NotebookEdit", "hooks": [{
            "type": "command",
            "command": "'/opt/my tools/claude-mem' hook claude-code PreToolUse", "timeout": 10,
        }]})
    );
}

#[test]
fn a_data_directory_elsewhere_is_said_to_hooks_and_server() {
    let there = Launch {
        data_dir: Some("/data/it's".into()),
        ..launch(OLD, "/bin/claude-mem")
    };
    assert_eq!(
        there.command("Stop").1[1],
        r"/bin/claude-mem hook claude-code Stop --data-dir '/data/it'\''s'"
    );
    let server = meaning_of(&there.server());
    assert_eq!(server["args"], json!(["--data-dir", "/data/it's", "mcp"]));
    assert_eq!(whose_server(&server), Whose::Ours);
}

#[test]
fn we_know_our_own_in_every_form_that_we_ever_wrote() {
    for version in [NEW, OLD] {
        for path in [
            "/usr/bin/claude-mem",
            "/my tools/claude-mem",
            "/it's/claude-mem",
        ] {
            let group = meaning_of(&launch(version, path).group("Stop"));
            assert_eq!(whose(&group["hooks"][0]), Whose::Ours, "{group}");
        }
    }
    for line in [
        "claude-mem hook claude-code Stop",
        "~/.local/bin/claude-mem hook claude-code SessionStart",
        "\"/a b/claude-mem\" hook claude-code Stop",
        "claude-mem context",
        "/usr/bin/claude-mem summary",
    ] {
        assert_eq!(whose(&json!({ "command": line })), Whose::Ours, "{line}");
    }
}

#[test]
fn what_only_looks_like_ours_is_not() {
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
        assert_eq!(whose(&json!({ "command": line })), Whose::Foreign, "{line}");
    }
    let served = json!({ "type": "http", "url": "http://127.0.0.1:1/claude-mem" });
    assert_eq!(whose(&served), Whose::Foreign);
}

#[test]
fn the_earlier_program_is_known_by_its_scripts() {
    for line in [
        "node \"$HOME/.claude/plugins/marketplaces/thedotmack/plugin/scripts/worker-service.cjs\" start",
        "node /home/me/.claude-mem/hooks/session-start.js",
        "bun /opt/claude-mem/plugin/scripts/save-hook.js",
    ] {
        assert_eq!(whose(&json!({ "command": line })), Whose::Rival, "{line}");
    }
    let server = json!({ "command": "node", "args": ["/x/claude-mem/scripts/mcp-server.cjs"] });
    assert_eq!(whose_server(&server), Whose::Rival);
}
