use crate::mcp::MCP_LINE_BYTES_MAX;
use std::io::Cursor;

use serde_json::json;

use super::*;
use claude_mem_core::tokens;

/// Returns the tool's name and arguments.
struct EchoToolbox;

impl Toolbox for EchoToolbox {
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<tools::ToolOutput, String> {
        match tool {
            "forget" => Err("there is no such memory".to_owned()),
            _ => Ok(tools::ToolOutput::text(format!("{tool} {arguments}")).with_structure(arguments.clone())),
        }
    }
}

fn talk(lines: &[&str]) -> Vec<Value> {
    let mut output = Vec::new();
    serve(Cursor::new(lines.join("\n")), &mut output, &mut EchoToolbox).unwrap();
    String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn initialize_agrees_on_the_protocol_version() {
    for (asked, want) in
        [("2025-11-25", "2025-11-25"), ("2024-11-05", "2024-11-05"), ("2031-01-01", "2025-11-25")]
    {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": asked } });
        let answers =
            talk(&[&hello.to_string(), r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#]);
        assert_eq!(answers.len(), 1);
        assert_eq!(answers[0]["result"]["protocolVersion"], want);
        assert_eq!(answers[0]["result"]["instructions"], schema::INSTRUCTIONS);
    }
}

#[test]
fn unknown_methods_are_refused() {
    let answers = talk(&[r#"{"jsonrpc":"2.0","id":"probe","method":"server/discover"}"#]);
    assert_eq!(answers[0]["error"]["code"], protocol::NO_SUCH_METHOD);
    assert_eq!(answers[0]["id"], "probe");
}

#[test]
fn tool_failures_are_texts_for_the_agent() {
    let answers = talk(&[
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"x"}}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"forget"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"launch_missiles"}}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"search","arguments":[1]}}"#,
    ]);
    // Text only: some clients hide the text if there is structured content.
    let said = json!({ "type": "text", "text": r#"search {"query":"x"}"# });
    assert_eq!(answers[0]["result"], json!({ "content": [said] }));
    let no_schema = |tool: &Value| tool.get("outputSchema").is_none();
    assert!(schema::tools().as_array().unwrap().iter().all(no_schema));
    assert_eq!(answers[1]["result"]["isError"], true);
    assert_eq!(answers[2]["error"]["code"], protocol::BAD_PARAMS);
    assert_eq!(answers[3]["error"]["code"], protocol::BAD_PARAMS);
}

#[test]
fn invalid_input_is_answered_and_survived() {
    let answers = talk(&["not json", "[1,2]", "", "{}", r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#]);
    let codes: Vec<Option<i64>> = answers.iter().map(|answer| answer["error"]["code"].as_i64()).collect();
    let (unread, bad) = (Some(protocol::PARSE_ERROR), Some(protocol::BAD_REQUEST));
    assert_eq!(codes, [unread, None, bad, None]);
    assert_eq!(answers[1].as_array().map(Vec::len), Some(2));
    assert_eq!(answers.last().unwrap()["id"], 7);
}

#[test]
fn batches_get_one_reply_and_invalid_requests_an_error() {
    let answers = talk(&[
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
        r#"{"jsonrpc":"2.0","id":3}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{}}"#,
        r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#,
    ]);
    assert_eq!((&answers[0][0]["id"], &answers[0][1]["id"]), (&json!(1), &json!(2)));
    assert_eq!(answers[1]["error"]["code"], protocol::BAD_REQUEST);
    assert_eq!(answers[1]["id"], 3);
    assert_eq!(answers.len(), 2, "answers and notifications are not answered");
}

#[test]
fn text_hiding_clients_get_no_structured_content() {
    for (version, name, wants) in [
        ("2025-06-18", "some-editor", true),
        ("2025-11-25", "some-editor", true),
        ("2025-03-26", "some-editor", false),
        ("2025-11-25", "claude-code", false),
        ("2025-11-25", "codex-mcp-client", false),
        ("2025-11-25", "", false),
    ] {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": { "protocolVersion": version, "clientInfo": { "name": name } } });
        let answers = talk(&[
            &hello.to_string(),
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"x"}}}"#,
        ]);
        let got = answers[1]["result"].get("structuredContent");
        assert_eq!(got.is_some(), wants, "{version} {name}");
    }
}

#[test]
fn overlong_line_is_refused_and_the_next_answered() {
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":"{}"}}"#,
        "x".repeat(MCP_LINE_BYTES_MAX)
    );
    let answers = talk(&[&long, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#]);
    assert_eq!(answers[0]["error"]["code"], protocol::PARSE_ERROR);
    assert_eq!(answers[1]["id"], 2);
}

#[test]
fn request_cancelled_while_queued_is_not_started() {
    let mut waiting = VecDeque::new();
    let line = |text: &str| Ok(text.as_bytes().to_vec());
    enqueue(&line(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#), &mut waiting);
    enqueue(&line(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#), &mut waiting);
    enqueue(
        &line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#),
        &mut waiting,
    );
    assert_eq!(waiting.len(), 1);
    assert!(matches!(&waiting[0], RpcMessage::Request { method, .. } if method == "ping"));
}

#[test]
fn tool_schemas_cost_less_than_800_tokens() {
    let cost = tokens::estimate(&schema::tools().to_string());
    assert!(cost <= 800, "{cost}");
    let names: Vec<Value> =
        schema::tools().as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, schema::NAMES);
}
