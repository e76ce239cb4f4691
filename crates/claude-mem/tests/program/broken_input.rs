//! Hook input that is invalid, truncated, missing or endless.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;

use crate::common::hooks::{self as common, NEUTRAL, captured_events, event_lines, log, payload};
use crate::common::sandbox;

#[test]
fn invalid_input_is_answered_and_logged_once() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    for (what, input) in [
        ("nothing", &b""[..]),
        ("not JSON", b"canary is not JSON"),
        ("a list", b"[\"canary\"]"),
        ("a lone bracket", b"{"),
        ("a NUL", b"{\"session_id\":\"canary\0\"}"),
        ("no session", br#"{"hook_event_name":"Stop","last_assistant_message":"canary"}"#),
        ("deep nesting", deep.as_bytes()),
        ("bytes that are no text", b"\xff\xfe\xff canary"),
    ] {
        let home = sandbox();
        let output = home.hook("Stop", input).ok();
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), (NEUTRAL, ""), "{what}");
        let log = log(&home);
        assert_eq!(log.lines().count(), 1, "{what}: {log}");
        assert!(!log.contains("canary"), "{what}: {log}");
        assert_eq!(captured_events(&home), [], "{what}");
    }
}

#[test]
fn truncated_payload_is_stored_in_part() {
    let whole = payload(
        "PostToolUse",
        &json!({"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "canary"}}),
    );
    let twice = whole.replace("\"tool_use_id\"", "\"session_id\":\"other\",\"tool_use_id\"");
    let half = format!("{},\"tool_response\":\"canary", &whole[..whole.len() - 1]);
    for (what, input) in [("a name that occurs twice", twice), ("half a payload", half)] {
        let home = sandbox();
        assert_eq!(home.hook("PostToolUse", input).ok().stdout, NEUTRAL, "{what}");
        assert_eq!(event_lines(&captured_events(&home)), "tool_use: Bash (cut)", "{what}");
        assert_eq!(common::files_containing(&home, "canary"), [] as [&str; 0], "{what}");
    }
}

#[test]
fn invalid_utf8_is_replaced() {
    let home = sandbox();
    let mut input = payload("UserPromptSubmit", &json!({"prompt": "fix XX the bug"})).into_bytes();
    let at = input.windows(2).position(|two| two == b"XX").expect("the place");
    input[at..at + 2].copy_from_slice(b"\xff\xfe");
    home.hook("UserPromptSubmit", input).ok();
    assert_eq!(event_lines(&captured_events(&home)), "prompt: fix \u{fffd}\u{fffd} the bug");
}

#[test]
fn lone_surrogate_is_replaced() {
    let home = sandbox();
    let prompt = payload("UserPromptSubmit", &json!({"prompt": "fix HALF now"}));
    home.hook("UserPromptSubmit", prompt.replace("HALF", r"\ud83d")).ok();
    let tool = payload("PostToolUse", &json!({"tool_name": "Bash", "tool_response": "done HALF"}));
    home.hook("PostToolUse", tool.replace("HALF", r"\ude00")).ok();
    assert_eq!(event_lines(&captured_events(&home)), "prompt: fix \u{fffd} now\ntool_use: Bash");
}

#[test]
fn unreadable_prompt_mutes_its_turn() {
    let home = sandbox();
    let prompt = payload("UserPromptSubmit", &json!({"prompt": "canary"}));
    home.hook("UserPromptSubmit", &prompt[..prompt.len() - 3]).ok();
    let tool = payload("PostToolUse", &json!({"tool_name": "Bash", "tool_response": "canary"}));
    home.hook("PostToolUse", tool).ok();
    assert_eq!(event_lines(&captured_events(&home)), "prompt: (private) (cut)");
    assert_eq!(common::files_containing(&home, "canary"), [] as [&str; 0]);
}

#[test]
fn open_stdin_does_not_block_the_hook() {
    let home = sandbox();
    let mut child = home
        .mem_command(&["hook", "claude-code", "UserPromptSubmit"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the hook starts");
    let mut stdin = child.stdin.take().expect("its stdin");
    stdin.write_all(payload("UserPromptSubmit", &json!({"prompt": "hello"})).as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    drop(stdin);
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), NEUTRAL);
    assert_eq!(event_lines(&captured_events(&home)), "prompt: hello");
}

#[test]
fn silent_stdin_times_out() {
    let home = sandbox();
    let child = home
        .mem_command(&["hook", "claude-code", "Stop"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.expect("the hook starts");
    let held = child.stdin.take();
    let output = child.wait_with_output().expect("it ends by itself");
    drop(held);
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), NEUTRAL);
}

#[test]
fn closed_stdout_is_not_a_failure() {
    let home = sandbox();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut child = home
        .mem_command(&["hook", "claude-code", "Stop"])
        .stdin(Stdio::piped())
        .stdout(writer)
        .spawn()
        .expect("the hook starts");
    let input = payload("Stop", &json!({"last_assistant_message": "Done."}));
    let mut stdin = child.stdin.take().expect("its stdin");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    assert_eq!(event_lines(&captured_events(&home)), "stop: Done.");
}

#[test]
fn panic_gets_the_neutral_answer() {
    let mut home = sandbox();
    let output = home.hook("SelfTestPanic", "{}").ok();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), (NEUTRAL, ""));
    assert!(log(&home).contains("panic at "), "{}", log(&home));

    home.set_env("CLAUDE_MEM_STRICT", "1");
    let output = home.hook("SelfTestPanic", "{}");
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), NEUTRAL));
    assert!(output.stderr.contains("panic requested by self-test"), "{output}");
}

#[test]
fn missing_home_gets_the_neutral_answer() {
    let mut home = sandbox();
    home.unset_env("HOME");
    home.unset_env("CLAUDE_MEM_DATA_DIR");
    let stop = payload("Stop", &json!({}));
    assert_eq!(home.hook("Stop", &stop).ok().stdout, NEUTRAL);
    home.set_env("CLAUDE_MEM_STRICT", "1");
    let output = home.hook("Stop", &stop);
    assert_eq!(output.code, Some(2));
    assert_eq!(output.stderr, "claude-mem: neither HOME nor CLAUDE_MEM_DATA_DIR is set\n");
}

#[test]
fn huge_payload_is_read_to_its_end() {
    let home = sandbox();
    let text = "x ".repeat(12 << 20);
    let input = payload("UserPromptSubmit", &json!({ "prompt": text }));
    let limit = Duration::from_mins(1);
    let command = home.mem_command(&["hook", "claude-code", "UserPromptSubmit"]);
    let output = rig::process::run(command, input.as_bytes(), limit).ok();
    assert_eq!(output.stdout, NEUTRAL);
    assert_eq!(event_lines(&captured_events(&home)), "prompt: (private) (cut)");
}

#[test]
fn uncreatable_data_directory_gets_the_neutral_answer() {
    let mut home = sandbox();
    home.set_env("CLAUDE_MEM_DATA_DIR", "/proc/claude-mem");
    let asked = payload("UserPromptSubmit", &json!({ "prompt": "Stop the crane" }));
    assert_eq!(home.hook("UserPromptSubmit", &asked).ok().stdout, NEUTRAL);
    assert_eq!(home.mem(&["save", "The crane stops"]).code, Some(1));
}
