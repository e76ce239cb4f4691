//! Reads the session files of Gemini CLI: a header, then messages and changes of the header.

use serde_json::Value;

use super::tool_call::{GeminiToolCall, strip_hook_context};
use crate::agents::record::RecordBuilder;

/// Texts of the user's role that the client writes itself, by their beginning.
const CLIENT_TEXTS: [&str; 2] = ["<hook_context>", "<session_context>"];

/// Translates one line; `None` if it is not JSON.
pub(super) fn translate(line: &str) -> Option<Vec<Value>> {
    let record: Value = serde_json::from_str(line).ok()?;
    let builder = RecordBuilder::new(&record["timestamp"], None);
    if record["sessionId"].is_string() && record["startTime"].is_string() {
        let builder = RecordBuilder::new(&record["startTime"], None);
        return Some(vec![builder.header(&record["sessionId"], [("cwd", &Value::Null); 3])]);
    }
    Some(match record["type"].as_str() {
        Some("user") => prompt(&builder, &record),
        Some("gemini") => answer(&builder, &record),
        _ => Vec::new(),
    })
}

fn prompt(builder: &RecordBuilder, record: &Value) -> Vec<Value> {
    // The text that the user saw, without the files that the client added.
    let shown = &record["displayContent"];
    let content = if shown.is_null() { &record["content"] } else { shown };
    let typed = match content {
        Value::String(text) => strip_hook_context(text).to_owned(),
        Value::Array(parts) if parts.iter().any(|part| !part["functionResponse"].is_null()) => String::new(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str()).map(strip_hook_context);
            let is_typed =
                |text: &&str| !CLIENT_TEXTS.iter().any(|begin| text.trim_start().starts_with(begin));
            texts.filter(is_typed).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    };
    if typed.trim().is_empty() { Vec::new() } else { vec![builder.prompt(typed.trim_end())] }
}

/// A message of the model. The client writes it once with its text and again with its tool calls.
fn answer(builder: &RecordBuilder, record: &Value) -> Vec<Value> {
    let Some(calls) = record["toolCalls"].as_array() else {
        let text = record["content"].as_str().filter(|text| !text.trim().is_empty());
        return text.map(|text| builder.assistant_text(text)).into_iter().collect();
    };
    calls.iter().flat_map(|call| tool_call(builder, call)).collect()
}

fn tool_call(builder: &RecordBuilder, call: &Value) -> Vec<Value> {
    let status = call["status"].as_str().unwrap_or_default();
    let (Some(name), "success" | "error") = (call["name"].as_str(), status) else {
        return Vec::new();
    };
    let response = &call["result"][0]["functionResponse"]["response"];
    let content = if response["output"].is_null() { &response["error"] } else { &response["output"] };
    let is_new = call["resultDisplay"]["isNewFile"].as_bool();
    let input = &call["args"];
    let read = GeminiToolCall::new(name, input, content, status == "error", is_new);
    vec![
        builder.tool_call(&read.id, &read.tool, input),
        builder.tool_result(&read.id, &read.output, read.failed),
    ]
}
