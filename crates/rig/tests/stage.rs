//! What the sandbox promises: a clean environment, deadlines, and nothing left behind.

use std::path::Path;
use std::time::Duration;

use rig::fixtures::{self, CLIENTS};
use rig::mcp::Mcp;
use rig::{Sandbox, process};
use serde_json::json;

const STAND_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stand-in.sh");

fn shell(home: &Sandbox, script: &str) -> std::process::Command {
    let mut command = home.command("/bin/sh");
    command.args(["-c", script]);
    command
}

#[test]
fn nothing_of_the_callers_environment_reaches_a_child() {
    let home = Sandbox::new().with_env("EXTRA", "1");
    let output = process::run(shell(&home, "env; pwd"), b"", Duration::from_secs(20)).ok();
    assert!(
        std::env::var_os("CARGO_MANIFEST_DIR").is_some(),
        "the caller has this one"
    );
    assert!(!output.stdout.contains("CARGO"), "{output}");
    assert!(output.stdout.contains("EXTRA=1\n"), "{output}");
    assert!(
        home.tidy(&output.stdout).contains("HOME=[HOME]\n"),
        "{output}"
    );
    assert!(
        home.tidy(&output.stdout).ends_with("[PROJECT]\n"),
        "{output}"
    );
}

#[test]
fn git_takes_the_project_for_a_repository() {
    let home = Sandbox::new();
    home.git_remote("ssh://git@example.org/a/b.git");
    home.git_branch("topic");
    let script = "git symbolic-ref HEAD && git remote get-url origin && git status --porcelain";
    let output = process::run(shell(&home, script), b"", Duration::from_secs(20));
    // Without git on the machine there is nothing to compare with.
    if output.code != Some(127) {
        assert_eq!(
            output.ok().stdout,
            "refs/heads/topic\nssh://git@example.org/a/b.git\n"
        );
    }
}

#[test]
fn a_program_that_takes_too_long_is_killed_with_its_children() {
    let home = Sandbox::new();
    let command = shell(&home, "sleep 600 & sleep 600");
    let output = process::run(command, b"", Duration::from_millis(300));
    assert!(output.timed_out && !output.held_open, "{output:?}");
    assert_eq!(output.to_string(), "[killed: its time was up]");
    home.assert_alone();
}

#[test]
fn what_was_left_running_ends_with_the_sandbox() {
    let home = Sandbox::new();
    // In a session of its own, as a daemon is. It says when it is up, and waits without becoming
    // another program: a process in the middle of that has no environment to be known by.
    let script = "mkfifo up never; \
        setsid sh -c 'echo >up; read word <never' </dev/null >/dev/null 2>&1 & read word <up";
    process::run(shell(&home, script), b"", Duration::from_secs(20)).ok();
    let mut left = home.leftovers();
    let daemon = left.pop().expect("the daemon runs");
    assert!(
        left.is_empty() && daemon.command.ends_with("read word <never"),
        "{left:?} {daemon:?}"
    );
    let root = home
        .home()
        .parent()
        .expect("HOME has a parent")
        .to_path_buf();
    drop(home);
    assert!(!root.exists());
    let environ = std::fs::read(format!("/proc/{}/environ", daemon.pid)).unwrap_or_default();
    assert!(environ.is_empty(), "{daemon:?} still runs");
}

#[test]
fn output_held_open_by_a_child_that_lives_on_is_reported() {
    let home = Sandbox::new();
    let command = shell(&home, "echo said; setsid sleep 600 &");
    let output = process::run(command, b"", Duration::from_secs(20));
    assert_eq!(
        (output.code, output.stdout.as_str(), output.held_open),
        (Some(0), "said\n", true)
    );
}

#[test]
fn hooks_are_written_for_the_events_the_client_knows() {
    let home = Sandbox::new();
    home.hooks_for(Path::new("/opt/it's here/claude-mem"));
    let settings = home.read(home.home().join(".claude/settings.json"));
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    let hooks = settings["hooks"].as_object().unwrap();
    assert_eq!(hooks.len(), rig::sandbox::EVENTS.len());
    let command = hooks["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    assert_eq!(
        command,
        r"'/opt/it'\''s here/claude-mem' hook claude-code Stop"
    );
}

#[test]
fn recordings_are_whole_and_small_and_can_be_laid_out() {
    let home = Sandbox::new();
    let mut bytes = 0;
    for client in CLIENTS {
        for call in fixtures::hooks(client) {
            assert!(
                call.name.contains(&format!("/{}.", call.event())),
                "{}",
                call.name
            );
            bytes += call.payload().len();
        }
        for name in fixtures::transcripts(client) {
            let laid = home.read(home.lay_transcript(&name));
            bytes += laid.len();
            assert!(
                laid.lines()
                    .all(|line| line.starts_with('{') && line.ends_with('}')),
                "{name}"
            );
            assert!(
                !laid.contains("/home/user"),
                "{name} still speaks of the recorded home"
            );
        }
    }
    assert!(bytes < 400 << 10, "{bytes} bytes of recordings");
    let agents = home.home().join(".claude/projects/-home-user-project");
    assert!(agents.join("agent-a89c1b4.jsonl").is_file());
    let inside = "c13826a4-9561-498e-b4a6-c697be06877b/subagents/agent-aafbe6fc61006f381.jsonl";
    assert!(agents.join(inside).is_file());
}

#[test]
fn a_recorded_hook_call_is_replayed_as_if_it_happened_here() {
    let home = Sandbox::new().with_exe(STAND_IN);
    let call = fixtures::hook("claude-code-2.1.325/hooks/PostToolUse.Bash.json");
    let output = home.tidy(&home.replay(&call).ok().stdout);
    let (told, payload) = output.split_at(output.find('{').expect("a payload"));
    assert_eq!(told, "hook claude-code PostToolUse\n[PROJECT]\n[PROJECT]\n");
    assert!(payload.contains(r#""cwd":"[PROJECT]""#), "{payload}");
}

#[test]
fn a_server_on_stdio_can_be_asked_in_any_order() {
    let home = Sandbox::new().with_exe(STAND_IN);
    let mut server = Mcp::spawn(home.mem_command(&["mcp"]));
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
