//! Reads the messages in OpenCode's database, one line each: `id`, `role`, `at` and `parts`.

use serde_json::Value;

use super::payload::rewrite_tool;
use crate::agents::record::RecordBuilder;

/// Translates one line; `None` if it is not JSON.
pub(super) fn translate(line: &str) -> Option<Vec<Value>> {
    let message: Value = serde_json::from_str(line).ok()?;
    let at = message["at"].as_i64().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    let at = at.map(|at| at.to_string()).into();
    let parts = message["parts"].as_array().map_or(&[][..], Vec::as_slice);
    Some(match message["role"].as_str() {
        Some("user") => prompt(&RecordBuilder::new(&at, message["id"].as_str()), parts),
        Some("assistant") => {
            let builder = RecordBuilder::new(&at, None);
            parts.iter().flat_map(|part| answer(&builder, part)).collect()
        }
        _ => Vec::new(),
    })
}

/// The text that the user typed, without the client's additions.
fn prompt(builder: &RecordBuilder, parts: &[Value]) -> Vec<Value> {
    let is_typed =
        |part: &&Value| part["type"] == "text" && part["synthetic"] != true && part["ignored"] != true;
    let typed: Vec<&str> = parts.iter().filter(is_typed).filter_map(|part| part["text"].as_str()).collect();
    let typed = typed.join("\n");
    if typed.trim().is_empty() { Vec::new() } else { vec![builder.prompt(&typed)] }
}

fn answer(builder: &RecordBuilder, part: &Value) -> Vec<Value> {
    match part["type"].as_str() {
        Some("text") => {
            let text = part["text"].as_str().filter(|text| !text.trim().is_empty());
            text.map(|text| builder.assistant_text(text)).into_iter().collect()
        }
        Some("tool") => tool_call(builder, part).unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn tool_call(builder: &RecordBuilder, part: &Value) -> Option<Vec<Value>> {
    let (id, name, state) = (part["callID"].as_str()?, part["tool"].as_str()?, &part["state"]);
    let (tool, input) = rewrite_tool(name, state["input"].clone());
    let failed_code = state["metadata"]["exit"].as_i64().is_some_and(|code| code != 0);
    let (output, failed) = match state["status"].as_str()? {
        "completed" => (&state["output"], failed_code),
        "error" => (&state["error"], true),
        _ => return None,
    };
    Some(vec![builder.tool_call(id, &tool, &input), builder.tool_result(id, output, failed)])
}
