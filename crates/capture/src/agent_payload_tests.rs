use serde_json::json;

use super::*;
use claude_mem_core::agents::{CLAUDE_CODE, CODEX, GEMINI_CLI};

fn resolve(agent: &CodingAgent, payload: &Value) -> HookEventKind {
    let text = payload.to_string();
    let text = rewrite_payload(agent, &text).unwrap_or(text);
    let decoded = payload::decode_payload(&text).unwrap();
    let header = PayloadHeader::from_payload(&decoded);
    resolve_outcome(agent, HookEventKind::ToolUse, Some(&decoded), &header)
}

#[test]
fn payload_of_claude_code_is_left_alone() {
    assert_eq!(rewrite_payload(&CLAUDE_CODE, r#"{"session_id":"s"}"#), None);
}

#[test]
fn broken_payload_is_not_rewritten() {
    for payload in ["", "[]", "{\"prompt\": \"a", "{\"prompt\":\"a\",\"prompt\":\"b\"}", "\"text\""] {
        assert_eq!(rewrite_payload(&GEMINI_CLI, payload), None, "{payload}");
    }
    let deep = format!("{{\"tool_input\":{}{}}}", "[".repeat(300), "]".repeat(300));
    assert_eq!(rewrite_payload(&GEMINI_CLI, &deep), None);
}

#[test]
fn trailing_bytes_and_byte_order_mark_are_accepted() {
    let rewritten = rewrite_payload(&CODEX, "\u{feff}{\"turn_id\":\"t\"}\nrest").unwrap();
    assert_eq!(rewritten, r#"{"prompt_id":"t"}"#);
}

#[test]
fn exit_code_is_read_from_the_transcript_of_the_session() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("rollout-2026-session-1.jsonl");
    let other = dir.path().join("rollout-2026-session-2.jsonl");
    let line = |code: i64| {
        let item = json!({ "type": "CommandExecution", "id": "call-1", "exit_code": code });
        json!({ "type": "event_msg", "payload": { "type": "item_completed", "item": item } }).to_string()
            + "\n"
    };
    let payload = |path: &Path| {
        json!({
            "session_id": "session-1", "transcript_path": path, "tool_name": "Bash",
            "tool_input": { "command": "make" }, "tool_response": "boom", "tool_use_id": "call-1",
        })
    };
    std::fs::write(&own, line(2)).unwrap();
    std::fs::write(&other, line(2)).unwrap();
    assert_eq!(resolve(&CODEX, &payload(&own)), HookEventKind::ToolFailure);
    assert_eq!(resolve(&CODEX, &payload(&other)), HookEventKind::ToolUse, "another session's");
    assert_eq!(resolve(&CODEX, &payload(&dir.path().join("session-1"))), HookEventKind::ToolUse, "missing");
    std::fs::write(&own, line(0)).unwrap();
    assert_eq!(resolve(&CODEX, &payload(&own)), HookEventKind::ToolUse);
}

#[test]
fn error_makes_a_failure_only_where_the_client_has_no_event_for_it() {
    let payload = json!({
        "session_id": "s", "tool_name": "run_shell_command", "tool_input": { "command": "make" },
        "tool_response": { "llmContent": "Output: boom\nExit Code: 1" },
    });
    assert_eq!(resolve(&GEMINI_CLI, &payload), HookEventKind::ToolFailure);
    let payload = json!({ "session_id": "s", "tool_name": "Bash", "error": "x" });
    assert_eq!(resolve(&CLAUDE_CODE, &payload), HookEventKind::ToolUse);
}
