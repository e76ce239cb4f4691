use serde_json::{Value, json};

use super::*;

fn translate(line: &Value) -> Vec<Value> {
    rollout::translate(&line.to_string()).unwrap()
}

fn item(payload: &Value) -> Value {
    json!({ "timestamp": "2026-01-02T03:04:05.000Z", "ordinal": 7, "type": "response_item", "payload": payload })
}

#[test]
fn turn_identifies_the_prompt() {
    let payload = json!({ "hook_event_name": "UserPromptSubmit", "turn_id": "t-1", "prompt": "Fix it" });
    let rewritten = payload::rewrite(payload);
    assert_eq!(rewritten["prompt_id"], "t-1");
    assert_eq!(rewritten["prompt"], "Fix it");
}

#[test]
fn failed_patch_is_an_error() {
    for (response, failed) in [
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nno such file", true),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.", false),
        ("plain output", false),
    ] {
        let rewritten = payload::rewrite(json!({ "tool_name": "apply_patch", "tool_response": response }));
        assert_eq!(!rewritten["error"].is_null(), failed, "{response}");
    }
    for odd in [json!([1]), json!("text"), json!({ "tool_response": 3 })] {
        assert_eq!(payload::rewrite(odd.clone()), odd);
    }
}

#[test]
fn header_tells_session_and_directory() {
    let meta = json!({
        "timestamp": "2026-01-02T03:04:05.000Z", "type": "session_meta",
        "payload": { "id": "s-1", "cwd": "/work/shop", "cli_version": "0.169.0", "git": { "branch": "main" } },
    });
    let [record] = &translate(&meta)[..] else { panic!() };
    assert_eq!((&record["sessionId"], &record["cwd"]), (&json!("s-1"), &json!("/work/shop")));
    assert_eq!(record["gitBranch"], "main");
}

#[test]
fn only_typed_text_is_a_prompt() {
    let kinds = |kind: &str| json!({ "turn_id": "t-1", "content_item_kinds": [kind] });
    let message = |role: &str, text: &str, metadata: Value| {
        item(&json!({
            "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }],
            "internal_chat_message_metadata_passthrough": metadata,
        }))
    };
    let prompt = translate(&message("user", "Fix the login", kinds("user.text")));
    assert_eq!(prompt[0]["message"]["content"], "Fix the login");
    assert_eq!(prompt[0]["promptId"], "t-1");
    for line in [
        message(
            "user",
            "<environment_context>\n  <cwd>/work</cwd>",
            kinds("environments.environment_context"),
        ),
        message("user", "<environment_context>\n  <cwd>/work</cwd>", Value::Null),
        message("developer", "What claude-mem remembers", kinds("hooks.additional_context")),
    ] {
        assert_eq!(translate(&line), Vec::<Value>::new(), "{line}");
    }
    assert_eq!(translate(&message("user", "Older clients", Value::Null)).len(), 1);
}

#[test]
fn commands_have_their_outcome() {
    let call = translate(&item(&json!({
        "type": "function_call", "name": "exec_command", "call_id": "c-1", "arguments": "{\"cmd\": \"make test\"}",
    })));
    let block = &call[0]["message"]["content"][0];
    assert_eq!((&block["name"], &block["input"]["command"]), (&json!("Bash"), &json!("make test")));
    for (output, failed, said) in [
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nboom\n", true, "boom\n"),
        ("Chunk ID: 1\nProcess exited with code 0\nOutput:\n3 passed\n", false, "3 passed\n"),
        ("unsupported call: shell", true, "unsupported call: shell"),
    ] {
        let result =
            translate(&item(&json!({ "type": "function_call_output", "call_id": "c-1", "output": output })));
        let block = &result[0]["message"]["content"][0];
        assert_eq!((&block["is_error"], &block["content"]), (&json!(failed), &json!(said)), "{output}");
    }
}

#[test]
fn tool_of_a_server_has_the_name_that_hooks_tell() {
    let call = translate(&item(&json!({
        "type": "function_call", "name": "search", "namespace": "mcp__claude-mem", "call_id": "c-1",
        "arguments": "{}",
    })));
    assert!(crate::agents::is_our_tool(call[0]["message"]["content"][0]["name"].as_str().unwrap()));
}

#[test]
fn exit_code_is_found_by_its_call() {
    let line = |id: &str, code: i64| {
        json!({ "type": "event_msg", "payload": { "type": "item_completed", "item": {
            "type": "CommandExecution", "id": id, "exit_code": code,
        } } })
    };
    let lines = format!("half a line\n{}\n{}\n", line("c-1", 3), line("c-2", 0));
    assert_eq!(rollout::find_exit_code(&lines, "c-1"), Some(3));
    assert_eq!(rollout::find_exit_code(&lines, "c-2"), Some(0));
    assert_eq!(rollout::find_exit_code(&lines, "c-3"), None);
}

#[test]
fn unknown_and_broken_lines_are_left_out() {
    assert_eq!(rollout::translate("{\"type\":\"response_item\",\"payl"), None);
    for line in
        [json!({}), json!({ "type": "world_state", "payload": {} }), item(&json!({ "type": "message" }))]
    {
        assert_eq!(translate(&line), Vec::<Value>::new(), "{line}");
    }
}

#[test]
fn command_that_prints_one_file_names_it() {
    for (command, file) in [
        ("cat src/a.rs", Some("/work/src/a.rs")),
        ("head -3 /etc/hosts", Some("/etc/hosts")),
        ("head -n 20 src/a.rs", Some("/work/src/a.rs")),
        ("sed -n '1,200p' src/a.rs", Some("/work/src/a.rs")),
        ("sed -i 's/a/b/p' src/a.rs", None),
        ("sed 's/a/b/p' src/a.rs", None),
        ("cat src/a.rs src/b.rs", None),
        ("cat src/a.rs > src/b.rs", None),
        ("cat src/*.rs", None),
        ("make src/a.rs", None),
        ("cat", None),
        ("", None),
    ] {
        let payload = json!({ "cwd": "/work", "tool_name": "Bash", "tool_input": { "command": command } });
        assert_eq!(payload::rewrite(payload)["tool_input"]["file_path"].as_str(), file, "{command}");
    }
}
