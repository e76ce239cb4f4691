//! Tests of the sandbox: a clean environment, deadlines, no processes left behind.

use std::path::Path;
use std::time::Duration;

use rig::fixtures::{self, CLIENTS};
use rig::mcp::McpTestClient;
use rig::{Sandbox, process};
use serde_json::json;

const STAND_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stand-in.sh");

fn shell(home: &Sandbox, script: &str) -> std::process::Command {
    let mut command = home.command("/bin/sh");
    command.args(["-c", script]);
    command
}

#[test]
fn child_gets_no_variable_of_the_caller() {
    let home = Sandbox::new().with_env("EXTRA", "1");
    let output = process::run(shell(&home, "env; pwd"), b"", Duration::from_secs(20)).ok();
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "the caller has this one");
    assert!(!output.stdout.contains("CARGO"), "{output}");
    assert!(output.stdout.contains("EXTRA=1\n"), "{output}");
    assert!(home.tidy(&output.stdout).contains("HOME=[HOME]\n"), "{output}");
    assert!(home.tidy(&output.stdout).ends_with("[PROJECT]\n"), "{output}");
}

#[test]
fn git_accepts_the_project_as_repository() {
    let home = Sandbox::new();
    home.git_remote("ssh://git@example.org/a/b.git");
    home.git_branch("topic");
    let script = "git symbolic-ref HEAD && git remote get-url origin && git status --porcelain";
    let output = process::run(shell(&home, script), b"", Duration::from_secs(20));
    // Skipped if git is not installed.
    if output.code != Some(127) {
        assert_eq!(output.ok().stdout, "refs/heads/topic\nssh://git@example.org/a/b.git\n");
    }
}

#[test]
fn program_is_killed_with_its_children_at_the_limit() {
    let home = Sandbox::new();
    let command = shell(&home, "sleep 600 & sleep 600");
    let output = process::run(command, b"", Duration::from_millis(300));
    assert!(output.timed_out && !output.held_open, "{output:?}");
    assert_eq!(output.to_string(), "[killed: its time was up]");
    home.assert_no_processes();
}

#[test]
fn detached_process_ends_with_the_sandbox() {
    let home = Sandbox::new();
    // In its own session, like a daemon. It reports when it is up, and waits without exec: during exec a
    // process has no environment to recognise it by.
    let script = "mkfifo up never; \
        setsid sh -c 'echo >up; read word <never' </dev/null >/dev/null 2>&1 & read word <up";
    process::run(shell(&home, script), b"", Duration::from_secs(20)).ok();
    let mut left = home.leftovers();
    let daemon = left.pop().expect("the daemon runs");
    assert!(left.is_empty() && daemon.command.ends_with("read word <never"), "{left:?} {daemon:?}");
    let root = home.home().parent().expect("HOME has a parent").to_path_buf();
    drop(home);
    assert!(!root.exists());
    let environ = std::fs::read(format!("/proc/{}/environ", daemon.pid)).unwrap_or_default();
    assert!(environ.is_empty(), "{daemon:?} still runs");
}

#[test]
fn output_held_open_by_surviving_child_is_reported() {
    let home = Sandbox::new();
    let command = shell(&home, "echo said; setsid sleep 600 &");
    let output = process::run(command, b"", Duration::from_secs(20));
    assert_eq!((output.code, output.stdout.as_str(), output.held_open), (Some(0), "said\n", true));
}

#[test]
fn hooks_are_written_for_known_events() {
    let home = Sandbox::new();
    home.install_hooks(Path::new("/opt/it's here/claude-mem"));
    let settings = home.read(home.home().join(".claude/settings.json"));
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    let hooks = settings["hooks"].as_object().unwrap();
    assert_eq!(hooks.len(), rig::sandbox::EVENTS.len());
    let command = hooks["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    assert_eq!(command, r"'/opt/it'\''s here/claude-mem' hook claude-code Stop");
}

#[test]
fn recordings_are_complete_and_small() {
    let home = Sandbox::new();
    let mut bytes = 0;
    for client in CLIENTS {
        for call in fixtures::hooks(client) {
            assert!(call.name.contains(&format!("/{}.", call.event())), "{}", call.name);
            bytes += call.payload().len();
        }
        for name in fixtures::transcripts(client) {
            let laid = home.read(home.place_transcript(&name));
            bytes += laid.len();
            assert!(laid.lines().all(|line| line.starts_with('{') && line.ends_with('}')), "{name}");
            assert!(!laid.contains("/home/user"), "{name} still contains the recorded home");
        }
    }
    assert!(bytes < 400 << 10, "{bytes} bytes of recordings");
    let agents = home.home().join(".claude/projects/-home-user-project");
    assert!(agents.join("agent-a89c1b4.jsonl").is_file());
    let inside = "c13826a4-9561-498e-b4a6-c697be06877b/subagents/agent-aafbe6fc61006f381.jsonl";
    assert!(agents.join(inside).is_file());
}

#[test]
fn recorded_hook_call_is_replayed_with_local_paths() {
    let home = Sandbox::new().with_exe(STAND_IN);
    let call = fixtures::hook("claude-code-2.1.325/hooks/PostToolUse.Bash.json");
    let output = home.tidy(&home.replay(&call).ok().stdout);
    let (told, payload) = output.split_at(output.find('{').expect("a payload"));
    assert_eq!(told, "hook claude-code PostToolUse\n[PROJECT]\n[PROJECT]\n");
    assert!(payload.contains(r#""cwd":"[PROJECT]""#), "{payload}");
}

#[test]
fn mcp_answers_are_matched_in_any_order() {
    let home = Sandbox::new().with_exe(STAND_IN);
    let mut server = McpTestClient::spawn(home.mem_command(&["mcp"]));
    assert_eq!(server.initialize()["serverInfo"]["name"], "sh");
    assert_eq!(server.tools()[0]["name"], "search");
    let first = server.begin_call("first", json!({}));
    assert_eq!(server.call_text("second", json!({})), "two");
    assert_eq!(server.answer(first).unwrap()["content"][0]["text"], "one");
    let unknown = server.request("nonsense", json!({})).unwrap_err();
    assert_eq!(unknown.to_string(), "no such method (-32601)");
    server.cancel(first);
    let output = server.close().ok();
    assert!(output.stderr.contains(r#""requestId":3"#), "{output}");
    assert!(output.stderr.ends_with("bye\n"), "{output}");
}
