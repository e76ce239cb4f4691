use serde_json::{Value, json};

use super::*;

const SHELL_TEXT: &str =
    "<untrusted_context>\nOutput: boom\nExit Code: 3\nProcess Group PGID: 4711\n</untrusted_context>";

fn after_tool(name: &str, input: &Value, response: &Value) -> Value {
    payload::rewrite(json!({
        "hook_event_name": "AfterTool", "tool_name": name, "tool_input": input, "tool_response": response,
    }))
}

fn translate(line: &Value) -> Vec<Value> {
    session_file::translate(&line.to_string()).unwrap()
}

fn tool_line(name: &str, args: &Value, response: &Value, status: &str) -> Value {
    json!({
        "id": "m-1", "timestamp": "2026-01-02T03:04:05.000Z", "type": "gemini", "content": "",
        "toolCalls": [{
            "id": "x", "name": name, "args": args, "status": status,
            "result": [{ "functionResponse": { "id": "x", "name": name, "response": response } }],
        }],
    })
}

#[test]
fn our_context_is_removed_from_the_prompt() {
    for (reported, typed) in [
        ("<hook_context>&lt;mem&gt;old&lt;/mem&gt;</hook_context>\n\nFix it", "Fix it"),
        ("<hook_context>a</hook_context>\n<hook_context>b</hook_context>\n\nFix it", "Fix it"),
        ("Explain <hook_context>x</hook_context>", "Explain <hook_context>x</hook_context>"),
        ("<hook_context>never closed", ""),
        ("Fix it", "Fix it"),
    ] {
        let rewritten = payload::rewrite(json!({ "hook_event_name": "BeforeAgent", "prompt": reported }));
        assert_eq!(rewritten["prompt"], typed);
    }
}

#[test]
fn final_message_is_the_answer_to_the_prompt() {
    let rewritten = payload::rewrite(json!({ "prompt": "Fix it", "prompt_response": "Fixed." }));
    assert_eq!(rewritten["last_assistant_message"], "Fixed.");
}

#[test]
fn failed_command_is_an_error() {
    let input = json!({ "command": "make test" });
    let call = after_tool("run_shell_command", &input, &json!({ "llmContent": SHELL_TEXT }));
    assert_eq!((&call["tool_name"], &call["error"]), (&json!("Bash"), &json!("boom")));
    assert!(call["tool_response"].is_null());
    let passed = json!({ "llmContent": "Output: 3 passed\nProcess Group PGID: 1" });
    let call = after_tool("run_shell_command", &input, &passed);
    assert_eq!((&call["tool_response"], &call["error"]), (&json!("3 passed"), &Value::Null));
}

#[test]
fn hook_and_session_file_agree_on_a_call() {
    let context = "\n\n<hook_context>&lt;mem&gt;seen&lt;/mem&gt;</hook_context>";
    let file = json!({ "file_path": "/work/a.txt" });
    for (name, input, content, response, status) in [
        (
            "run_shell_command",
            json!({ "command": "make" }),
            json!({ "llmContent": SHELL_TEXT }),
            json!({ "output": format!("{SHELL_TEXT}{context}") }),
            "success",
        ),
        (
            "read_file",
            file.clone(),
            json!({ "llmContent": "one\ntwo\n" }),
            json!({ "output": format!("one\ntwo\n{context}") }),
            "success",
        ),
        (
            "replace",
            file,
            json!({ "llmContent": "no match", "error": { "message": "no match" } }),
            json!({ "error": "no match" }),
            "error",
        ),
        (
            "mcp_notes_find",
            json!({}),
            json!({ "llmContent": [{ "text": "<untrusted_context>\nnone\n</untrusted_context>" }] }),
            json!({ "output": format!("<untrusted_context>\nnone\n</untrusted_context>\n{context}") }),
            "success",
        ),
    ] {
        let hook = after_tool(name, &input, &content);
        let [call, result] = &translate(&tool_line(name, &input, &response, status))[..] else { panic!() };
        let (call, result) = (&call["message"]["content"][0], &result["message"]["content"][0]);
        assert_eq!(hook["tool_use_id"], call["id"], "{name}");
        assert_eq!(call["id"], result["tool_use_id"], "{name}");
        assert_eq!(hook["tool_name"], call["name"], "{name}");
        assert_eq!(!hook["error"].is_null(), result["is_error"] == true, "{name}");
        let told = if hook["error"].is_null() { &hook["tool_response"] } else { &hook["error"] };
        assert_eq!(told, &result["content"], "{name}");
    }
}

#[test]
fn equal_commands_are_told_apart_by_their_process_group() {
    let input = json!({ "command": "make" });
    let of_group = |group: u32| {
        let text = format!("Output: ok\nProcess Group PGID: {group}");
        after_tool("run_shell_command", &input, &json!({ "llmContent": text }))["tool_use_id"].clone()
    };
    assert_ne!(of_group(1), of_group(2));
}

#[test]
fn own_tools_are_recognised() {
    let call = after_tool("mcp_claude-mem_search", &json!({}), &json!({ "llmContent": "x" }));
    assert!(crate::agents::is_our_tool(call["tool_name"].as_str().unwrap()));
}

#[test]
fn session_file_tells_prompts_and_answers() {
    let header = json!({ "sessionId": "s-1", "projectHash": "p", "startTime": "2026-01-02T03:04:05.000Z", "kind": "main" });
    assert_eq!(translate(&header)[0]["sessionId"], "s-1");
    let at = "2026-01-02T03:04:05.000Z";
    let prompt = json!({ "id": "m", "timestamp": at, "type": "user", "content": [
        { "text": "<hook_context>old</hook_context>\n\nFix it" }, { "text": "<hook_context>recall</hook_context>" },
    ] });
    let records = translate(&prompt);
    assert_eq!((records.len(), &records[0]["message"]["content"]), (1, &json!("Fix it")));
    let answer = json!({ "id": "m", "timestamp": at, "type": "gemini", "content": "Fixed." });
    assert_eq!(translate(&answer)[0]["message"]["content"][0]["text"], "Fixed.");
    for silent in [
        json!({ "$set": { "messages": [{ "type": "user", "content": "typed long ago" }] } }),
        json!({ "id": "m", "timestamp": at, "type": "user", "content": [{ "functionResponse": {} }] }),
        json!({ "id": "m", "timestamp": at, "type": "gemini", "content": "" }),
        json!({ "id": "m", "timestamp": at, "type": "info", "content": "Update available" }),
        json!({ "id": "m", "timestamp": at, "type": "user", "content": [{ "text": "<session_context>\nToday" }] }),
        tool_line("replace", &json!({}), &json!({}), "cancelled"),
    ] {
        assert_eq!(translate(&silent), Vec::<Value>::new(), "{silent}");
    }
    assert_eq!(session_file::translate("{\"id\": \"m\", \"type\": \"us"), None);
}
