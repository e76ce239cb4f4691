//! Recorded hook calls of real clients and the events stored for them.

use insta::assert_snapshot;
use rig::{Sandbox, fixtures};
use serde_json::json;

use crate::common::hooks::{self as common, NEUTRAL, captured_events, event_lines, payload};
use crate::common::sandbox;

#[test]
fn every_recorded_call_gets_the_neutral_answer() {
    for client in fixtures::CLIENTS {
        // With context off, there is nothing to add.
        let home = sandbox().with_env("CLAUDE_MEM_CONTEXT", "off");
        for call in fixtures::hooks(client) {
            let output = home.replay(&call).ok();
            assert_eq!(output.stdout, NEUTRAL, "{}", call.name);
            assert_eq!(output.stderr, "", "{}", call.name);
            assert!(!output.held_open, "{}", call.name);
        }
        assert_eq!(common::log(&home), "", "{client}");
    }
}

#[test]
fn session_events_are_stored_in_order() {
    let mut home = sandbox();
    let calls = [
        "SessionStart.startup",
        "UserPromptSubmit",
        "PreToolUse.Write",
        "PostToolUse.Write",
        "PostToolUse.Read",
        "PostToolUse.Edit",
        "PostToolUse.Bash",
        "PostToolUseFailure.Bash",
        "PostToolUse.mcp__mem__search",
        "Stop",
        "SessionEnd.other",
    ];
    for (second, call) in calls.iter().enumerate() {
        let call = fixtures::hook(&format!("claude-code-2.1.325/hooks/{call}.json"));
        home.set_env("CLAUDE_MEM_NOW", format!("17698536{second:02}000"));
        home.replay(&call).ok();
    }
    let session = "d1efab98-51b2-499f-9566-248bab100034";
    let of_session: Vec<_> =
        captured_events(&home).into_iter().filter(|event| event.session.0 == session).collect();
    assert_snapshot!(event_lines(&of_session), @"
    session_start: startup
    prompt: Write hello.txt, read it, count it, fail once, search memory, ask a subagent.
    tool_use: Write
    tool_use: Read
    tool_use: Edit
    tool_use: Bash
    tool_use: Bash, failed
    tool_use: mcp__mem__search
    stop: All done.
    session_end: other
    ");
}

/// Submits the prompt to which a later call belongs.
fn submit_prompt_of(home: &Sandbox, call: &serde_json::Value) {
    let payload = json!({"session_id": call["session_id"], "prompt_id": call["prompt_id"], "cwd": "/",
        "hook_event_name": "UserPromptSubmit", "prompt": "Go on."});
    home.hook("UserPromptSubmit", payload.to_string()).ok();
}

#[test]
fn compaction_and_subagents_are_stored() {
    let home = sandbox();
    for call in ["PreCompact.manual", "PostCompact.manual", "SubagentStop", "PostToolUse.Read.in-subagent"] {
        let call = fixtures::hook(&format!("claude-code-2.1.325/hooks/{call}.json"));
        // A compaction has an id of its own, for which no prompt is submitted.
        if !call.event().ends_with("Compact") {
            submit_prompt_of(&home, &call.stdin);
        }
        home.replay(&call).ok();
    }
    let mut all: Vec<_> = captured_events(&home).iter().map(common::event_line).collect();
    all.retain(|line| !line.starts_with("prompt:"));
    all.sort();
    assert_snapshot!(all.join("\n"), @"
    post_compact: SUMMARY-TEXT
    pre_compact: manual
    subagent_stop: SUBAGENT-ANSWER (subagent)
    tool_use: Read (subagent)
    ");
}

#[test]
fn final_message_of_an_old_client_comes_from_its_transcript() {
    for client in ["claude-code-1.0.127", "claude-code-2.0.77"] {
        let home = sandbox();
        home.place_transcript(&format!("{client}/transcripts/session.jsonl"));
        let mut stop = fixtures::hook(&format!("{client}/hooks/Stop.json"));
        let laid = std::fs::read_dir(home.home().join(".claude/projects/-home-user-project"));
        let transcripts = laid.expect("a laid transcript").flatten().map(|entry| entry.path());
        let mut transcripts = transcripts.filter(|path| path.extension().is_some_and(|e| e == "jsonl"));
        let transcript = transcripts.next().expect("a laid transcript");
        stop.stdin["transcript_path"] = json!(transcript);
        home.replay(&stop).ok();
        let kept = event_lines(&captured_events(&home));
        assert!(kept.starts_with("stop: ") && kept != "stop: -", "{client}: {kept}");
    }
}

#[test]
fn repeated_call_is_one_event() {
    let home = sandbox();
    let call = fixtures::hook("claude-code-2.1.325/hooks/PostToolUse.Bash.json");
    submit_prompt_of(&home, &call.stdin);
    for _ in 0..3 {
        home.replay(&call).ok();
    }
    assert_eq!(event_lines(&captured_events(&home)), "prompt: Go on.\ntool_use: Bash");
}

#[test]
fn long_payloads_are_truncated() {
    let home = sandbox();
    let long = "line of output\n".repeat(1 << 17);
    let tool = |id: &str, text: &str| {
        let more = json!({"tool_name": "Bash", "tool_use_id": id,
            "tool_input": {"command": "make"}, "tool_response": {"stdout": text}});
        payload("PostToolUse", &more)
    };
    home.hook("PostToolUse", tool("a", &long)).ok();
    home.hook("PostToolUse", tool("b", &long.repeat(10))).ok();
    let kept = captured_events(&home);
    assert_snapshot!(event_lines(&kept), @"
    tool_use: Bash (cut)
    tool_use: Bash (cut)
    ");
    for event in &kept {
        let stored = serde_json::to_string(event).expect("an event is JSON");
        assert!(stored.len() < 32 << 10, "{} bytes", stored.len());
    }
    assert_snapshot!(common::log(&home), @r#"2026-01-31T10:00:00.000Z warn  hook said="PostToolUse: payload truncated""#);
}

#[test]
fn files_are_private_with_any_umask() {
    use std::os::unix::fs::PermissionsExt;
    let home = sandbox();
    let script = "umask 000; exec \"$0\" hook claude-code UserPromptSubmit";
    let mut command = home.command("/bin/sh");
    command.arg("-c").arg(script).arg(crate::common::exe());
    let input = payload("UserPromptSubmit", &json!({"prompt": "<private>x</private>"}));
    let limit = std::time::Duration::from_mins(1);
    rig::process::run(command, input.as_bytes(), limit).ok();
    home.hook("PostToolUse", "not json").ok();
    let modes = common::bytes_on_disk(&home).into_iter().map(|(path, _)| {
        let mode = std::fs::metadata(&path).expect("a file").permissions().mode() & 0o777;
        let folder = path.parent().expect("a folder");
        let folder = std::fs::metadata(folder).expect("a folder").permissions().mode() & 0o777;
        (mode, folder, path)
    });
    let mut seen = 0;
    for (mode, folder, path) in modes {
        assert_eq!((mode, folder), (0o600, 0o700), "{}", path.display());
        seen += 1;
    }
    assert!(seen >= 5, "database, log, write-ahead log, marks: {seen}");
}

#[test]
fn queue_list_includes_spooled_events() {
    let home = sandbox();
    let tool = json!({"tool_name": "Bash", "tool_use_id": "t", "tool_response": "x"});
    home.hook("PostToolUse", payload("PostToolUse", &tool)).ok();
    let status = home.mem(&["status", "--json"]).ok().json();
    assert_eq!((&status["queue"]["waiting"], &status["queue"]["spooled"]), (&json!(1), &json!(0)));
}

#[test]
fn warmup_agent_is_ignored() {
    let home = sandbox();
    let agent = r#"{"type":"user","isSidechain":true,"message":{"content":"Warmup"}}"#;
    let transcript = home.write(home.home().join("agent-a75dee5.jsonl"), agent);
    let mut stop = fixtures::hook("claude-code-2.0.77/hooks/SubagentStop.warmup.json");
    stop.stdin["agent_transcript_path"] = json!(transcript);
    home.replay(&stop).ok();
    assert_eq!(captured_events(&home), []);
}
