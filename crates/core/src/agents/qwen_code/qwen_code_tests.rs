use serde_json::{Value, json};

use super::*;

const FRAMED: &str = "Command: make test\nDirectory: (root)\nOutput: boom\nExit Code: 9\nmore\nError: (none)\n\
                      Exit Code: 3\nSignal: (none)\nProcess Group PGID: (none)";

fn rewritten(more: Value) -> Value {
    let mut payload = json!({ "session_id": "s", "prompt_id": "s########0" });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload::rewrite(payload)
}

fn translate(record: &Value) -> Vec<Value> {
    chat_record::translate(&record.to_string()).unwrap()
}

#[test]
fn command_loses_the_frame_of_the_client() {
    let call = json!({
        "tool_name": "run_shell_command", "tool_use_id": "toolu_1", "tool_call_id": "call_1", "error": FRAMED,
        "tool_input": { "command": "make test" },
    });
    let call = rewritten(call);
    assert_eq!((&call["tool_name"], &call["tool_use_id"]), (&json!("Bash"), &json!("call_1")));
    assert_eq!(call["error"], "boom\nExit Code: 9\nmore");
    assert_eq!(call["prompt_id"], Value::Null);
    for (text, printed) in [
        ("Command: x\nDirectory: (root)\nOutput: (empty)\nError: (none)", ""),
        ("3 passed", "3 passed"),
        ("Command: x without more", "Command: x without more"),
    ] {
        let response = json!({ "llmContent": text });
        let call = rewritten(json!({ "tool_name": "run_shell_command", "tool_response": response }));
        assert_eq!(call["tool_response"], printed);
    }
}

#[test]
fn other_tools_have_our_names() {
    for (name, ours) in [
        ("read_file", "Read"),
        ("edit", "Edit"),
        ("write_file", "Write"),
        ("mcp__claude-mem__search", "mcp__claude-mem__search"),
    ] {
        let response = json!({ "llmContent": [{ "text": "Command: a" }, { "text": "b" }] });
        let call = rewritten(json!({ "tool_name": name, "tool_response": response }));
        assert_eq!((&call["tool_name"], &call["tool_response"]), (&json!(ours), &json!("Command: a\nb")));
    }
}

#[test]
fn transcript_tells_what_hooks_tell() {
    let prompt = translate(&json!({
        "type": "user", "provenance": "real_user", "sessionId": "s", "cwd": "/work", "version": "0.24.4",
        "timestamp": "2026-01-02T03:04:05.000Z", "message": { "role": "user", "parts": [
            { "text": "Fix it" }, { "text": "<qwen:user-prompt-submit-context>old</qwen:user-prompt-submit-context>" },
        ] },
    }));
    assert_eq!((&prompt[0]["sessionId"], &prompt[0]["cwd"]), (&json!("s"), &json!("/work")));
    assert_eq!(prompt[1]["message"]["content"], "Fix it");
    let call = translate(&json!({ "type": "assistant", "message": { "parts": [
        { "text": "hm", "thought": true }, { "text": "I look." },
        { "functionCall": { "id": "call_1", "name": "run_shell_command", "args": { "command": "make" } } },
    ] } }));
    assert_eq!(call.len(), 2, "thoughts are not told: {call:?}");
    assert_eq!(call[1]["message"]["content"][0]["name"], "Bash");
    let response = json!({ "functionResponse": {
        "id": "call_1", "name": "run_shell_command", "response": { "error": FRAMED },
    } });
    let result = translate(&json!({
        "type": "tool_result", "toolCallResult": { "status": "error" }, "message": { "parts": [response] },
    }));
    let block = &result[0]["message"]["content"][0];
    assert_eq!((&block["tool_use_id"], &block["is_error"]), (&json!("call_1"), &json!(true)));
    assert_eq!(block["content"], "boom\nExit Code: 9\nmore");
}

#[test]
fn texts_of_the_client_are_no_prompts() {
    for (provenance, text) in [("system", "Continue"), ("real_user", "<system-reminder>x</system-reminder>")]
    {
        let record = json!({
            "type": "user", "provenance": provenance, "sessionId": "s", "message": { "parts": [{ "text": text }] },
        });
        assert_eq!(translate(&record).len(), 1, "the header only: {provenance} {text}");
    }
}
