use serde_json::{Value, json};

use super::*;
use crate::agents::derived_call_id;

const GUIDANCE: &str =
    "\n\nTool \"bash\" succeeded. Additional guidance from postToolUse hooks:\nan old memory";

fn rewritten(more: Value) -> Value {
    let mut payload = json!({ "session_id": "s", "cwd": "/work" });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload::rewrite(payload)
}

fn translate(event: &str, data: Value) -> Vec<Value> {
    let line = json!({ "type": event, "data": data, "timestamp": "2026-01-02T03:04:05.000Z" });
    event_log::translate(&line.to_string()).unwrap()
}

fn reported(tool: &str, input: Value, output: &str) -> Value {
    rewritten(json!({
        "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": input,
        "tool_result": { "result_type": "success", "text_result_for_llm": output },
    }))
}

#[test]
fn failed_command_is_an_error() {
    let failed = reported(
        "Bash",
        json!({ "command": "make test" }),
        "limiter tripped\n<shellId: 0 completed with exit code 3>",
    );
    assert_eq!((&failed["error"], &failed["tool_response"]), (&json!("limiter tripped"), &Value::Null));
    let passed =
        reported("Bash", json!({ "command": "make" }), "3 passed\n<shellId: 1 completed with exit code 0>");
    assert_eq!((&passed["error"], &passed["tool_response"]), (&Value::Null, &json!("3 passed")));
    let silent = reported("Bash", json!({ "command": "true" }), "<shellId: 2 completed with exit code 0>");
    assert_eq!(silent["tool_response"], "");
    let printed = "<shellId: 2 completed with exit code 1>\nmore";
    assert_eq!(reported("Bash", json!({}), printed)["tool_response"], printed, "the command printed it");
}

#[test]
fn tools_and_inputs_have_our_names() {
    for (name, input, ours, named) in [
        ("view", json!({ "path": "/a" }), "Read", json!({ "file_path": "/a" })),
        (
            "edit",
            json!({ "path": "/a", "old_str": "b", "new_str": "c" }),
            "Edit",
            json!({ "file_path": "/a", "old_string": "b", "new_string": "c" }),
        ),
        (
            "create",
            json!({ "path": "/a", "file_text": "b" }),
            "Write",
            json!({ "file_path": "/a", "content": "b" }),
        ),
        ("grep", json!({ "path": "/a" }), "Grep", json!({ "path": "/a" })),
        ("apply_patch", json!("*** Begin Patch"), "apply_patch", json!({ "command": "*** Begin Patch" })),
        ("claude-mem-search", json!({}), "mcp__claude-mem__search", json!({})),
        ("github-search", json!({}), "github-search", json!({})),
    ] {
        let call = reported(name, input, "ok");
        assert_eq!((&call["tool_name"], &call["tool_input"]), (&json!(ours), &named), "{name}");
    }
}

/// The same call has one id, whether a hook or the log tells it, and with or without added context.
#[test]
fn hook_and_log_agree_on_a_call() {
    let command = json!({ "command": "make test", "description": "d" });
    let output = "limiter tripped\n<shellId: 0 completed with exit code 3>";
    let hook = reported("Bash", command.clone(), output);
    let call = translate(
        "tool.execution_start",
        json!({ "toolCallId": "c", "toolName": "bash", "arguments": command }),
    );
    let block = &call[0]["message"]["content"][0];
    assert_eq!((&block["name"], &block["input"]), (&json!("Bash"), &hook["tool_input"]));
    for shown in [output.to_owned(), format!("{output}{GUIDANCE}")] {
        let result = translate(
            "tool.execution_complete",
            json!({ "toolCallId": "c", "success": true, "result": { "content": shown } }),
        );
        let result = &result[0]["message"]["content"][0];
        let digest = result["result_digest"].as_str().unwrap();
        let id = derived_call_id("Bash", &block["input"].to_string(), digest);
        assert_eq!(hook["tool_use_id"], id);
        assert_eq!((&result["content"], &result["is_error"]), (&json!("limiter tripped"), &json!(true)));
    }
    let again = reported("Bash", command, "limiter tripped\n<shellId: 1 completed with exit code 3>");
    assert_ne!(again["tool_use_id"], hook["tool_use_id"], "another run of the same command");
}

#[test]
fn failed_tool_has_one_id_in_hook_and_log() {
    let hook = rewritten(json!({
        "hook_event_name": "PostToolUseFailure", "tool_name": "Read", "tool_input": { "path": "/gone" },
        "error": "Path does not exist",
    }));
    let result = translate(
        "tool.execution_complete",
        json!({ "toolCallId": "c", "success": false, "error": { "message": "Path does not exist" } }),
    );
    let result = &result[0]["message"]["content"][0];
    let digest = result["result_digest"].as_str().unwrap();
    assert_eq!(hook["tool_use_id"], derived_call_id("Read", r#"{"file_path":"/gone"}"#, digest));
    assert_eq!((&hook["error"], &result["is_error"]), (&json!("Path does not exist"), &json!(true)));
}

#[test]
fn work_of_a_subagent_belongs_to_the_session() {
    let of_agent = |event: &str| {
        rewritten(json!({
            "hook_event_name": event, "session_id": "a", "agent_id": "a", "parent_agent_id": "s", "prompt": "find it",
        }))
    };
    for event in ["UserPromptSubmit", "Stop"] {
        let kind = COPILOT_CLI.event_kind(of_agent(event)["hook_event_name"].as_str().unwrap());
        assert_eq!(kind, None, "{event} of a subagent is not the user's");
    }
    let call = of_agent("PostToolUse");
    assert_eq!((&call["session_id"], &call["agent_id"]), (&json!("s"), &json!("a")));
    assert_eq!(COPILOT_CLI.event_kind("PostToolUse"), Some(HookEventKind::ToolUse));
    let line = json!({ "type": "user.message", "agentId": "a", "data": { "content": "find it" } });
    assert_eq!(event_log::translate(&line.to_string()), Some(Vec::new()));
}

#[test]
fn log_tells_the_session_and_the_words() {
    let start = translate(
        "session.start",
        json!({
            "sessionId": "s", "copilotVersion": "1.0.102", "context": { "cwd": "/work", "branch": "main" },
        }),
    );
    assert_eq!((&start[0]["sessionId"], &start[0]["cwd"]), (&json!("s"), &json!("/work")));
    let typed =
        json!({ "content": "Fix it", "transformedContent": "Fix it <system_reminder>old</system_reminder>" });
    assert_eq!(translate("user.message", typed)[0]["message"]["content"], "Fix it");
    for other in [
        json!({ "content": "a skill", "source": "skill-pdf" }),
        json!({ "content": "Continue", "isAutopilotContinuation": true }),
        json!({ "content": " " }),
    ] {
        assert!(translate("user.message", other.clone()).is_empty(), "{other}");
    }
    let said = translate("assistant.message", json!({ "content": "Done.", "reasoningText": "hm" }));
    assert_eq!(said[0]["message"]["content"][0]["text"], "Done.");
    let summary = translate("session.compaction_complete", json!({ "summaryContent": "We fixed it." }));
    assert_eq!(summary[0]["isCompactSummary"], true);
    assert!(translate("hook.start", json!({ "input": { "prompt": "Fix it" } })).is_empty());
    assert_eq!(event_log::translate("{ half"), None);
}

#[test]
fn new_session_has_our_name() {
    let start = rewritten(json!({ "hook_event_name": "SessionStart", "source": "new" }));
    assert_eq!(start["source"], "startup");
}
