//! Legacy command names: `context` and `save` act as hooks if stdin holds a payload, else as commands.
//! `new` and `summary` are always hooks.

use std::process::Stdio;

use serde_json::json;

use crate::common::hooks::{NEUTRAL, captured_events, event_lines, payload};
use crate::common::sandbox;

#[test]
fn payload_selects_the_hook() {
    let home = sandbox().with_env("CLAUDE_MEM_CONTEXT", "off");
    for (name, input) in [
        ("context", payload("SessionStart", &json!({"source": "startup"}))),
        ("new", payload("UserPromptSubmit", &json!({"prompt": "hello"}))),
        ("save", payload("PostToolUse", &json!({"tool_name": "Bash", "tool_response": "x"}))),
        ("summary", payload("Stop", &json!({"last_assistant_message": "Done."}))),
    ] {
        let output = home.mem_with(&[name], input).ok();
        assert_eq!(output.stdout, NEUTRAL, "{name}");
    }
    let mut kept: Vec<_> = event_lines(&captured_events(&home)).lines().map(str::to_owned).collect();
    kept.sort();
    assert_eq!(kept, ["prompt: hello", "session_start: startup", "stop: Done.", "tool_use: Bash"]);
}

#[test]
fn command_names_the_event_of_an_old_payload() {
    let home = sandbox();
    home.mem_with(&["new"], r#"{"session_id":"s","prompt":"hello"}"#).ok();
    assert_eq!(event_lines(&captured_events(&home)), "prompt: hello");
}

#[test]
fn no_payload_selects_the_command() {
    let home = sandbox();
    for name in ["context", "save"] {
        for (what, output) in [
            ("an empty pipe", home.mem(&[name])),
            ("some text", home.mem_with(&[name], "remember the milk")),
            ("an argument", home.mem_with(&[name, "--json"], payload("Stop", &json!({})))),
        ] {
            assert_ne!(output.stdout, NEUTRAL, "{name}, {what}: {output}");
            assert_ne!(output.code, Some(2), "{name}, {what}: {output}");
        }
        let null = home.mem_command(&[name]).stdin(Stdio::null()).output().expect("it runs");
        assert_ne!(null.stdout, NEUTRAL.as_bytes(), "{name}");
    }
    assert_eq!(captured_events(&home), []);
}

#[test]
fn hook_only_commands_always_answer_as_hooks() {
    let home = sandbox();
    for name in ["new", "summary"] {
        for input in ["", "remember the milk", "\u{feff}{", "{\"session_id\":"] {
            let output = home.mem_with(&[name], input).ok();
            assert_eq!(output.stdout, NEUTRAL, "{name}, {input:?}");
        }
        let null = home.mem_command(&[name]).stdin(Stdio::null()).output().expect("it runs");
        assert_eq!(null.stdout, NEUTRAL.as_bytes(), "{name}");
    }
}

#[test]
fn byte_order_mark_is_skipped() {
    let home = sandbox().with_env("CLAUDE_MEM_CONTEXT", "off");
    for (name, event) in [("context", "SessionStart"), ("save", "PostToolUse")] {
        let marked = format!("\u{feff}{}", payload(event, &json!({"tool_name": "Bash"})));
        let output = home.mem_with(&[name], marked).ok();
        assert_eq!(output.stdout, NEUTRAL, "{name}");
    }
}
