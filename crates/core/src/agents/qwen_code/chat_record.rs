//! Reads the transcripts of Qwen Code: records of users, assistants, tool results and the system.

use serde_json::Value;

use super::tool_text::{join_texts, our_name, shell_output};
use crate::agents::record::RecordBuilder;

/// How the texts begin that the client adds to a prompt.
const CLIENT_TEXTS: [&str; 2] = ["<qwen:", "<system-reminder>"];

/// Translates one line; `None` if it is not JSON.
pub(super) fn translate(line: &str) -> Option<Vec<Value>> {
    let record: Value = serde_json::from_str(line).ok()?;
    let builder = RecordBuilder::new(&record["timestamp"], None);
    let parts = record["message"]["parts"].as_array().map_or(&[][..], Vec::as_slice);
    Some(match record["type"].as_str() {
        Some("user") => {
            let more = [
                ("cwd", &record["cwd"]),
                ("gitBranch", &record["gitBranch"]),
                ("version", &record["version"]),
            ];
            let header = builder.header(&record["sessionId"], more);
            std::iter::once(header).chain(prompt(&builder, &record, parts)).collect()
        }
        Some("assistant") => parts.iter().filter_map(|part| answer(&builder, part)).collect(),
        Some("tool_result") => {
            let failed = record["toolCallResult"]["status"] == "error";
            parts.iter().filter_map(|part| result(&builder, part, failed)).collect()
        }
        _ => Vec::new(),
    })
}

/// The text that the user typed. The client's own prompts have another provenance.
fn prompt(builder: &RecordBuilder, record: &Value, parts: &[Value]) -> Option<Value> {
    if record["provenance"].as_str().is_some_and(|provenance| provenance != "real_user") {
        return None;
    }
    let is_typed = |text: &&str| !CLIENT_TEXTS.iter().any(|begin| text.trim_start().starts_with(begin));
    let typed: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).filter(is_typed).collect();
    let typed = typed.join("\n");
    (!typed.trim().is_empty()).then(|| builder.prompt(&typed))
}

fn answer(builder: &RecordBuilder, part: &Value) -> Option<Value> {
    let call = &part["functionCall"];
    if let (Some(id), Some(name)) = (call["id"].as_str(), call["name"].as_str()) {
        return Some(builder.tool_call(id, &our_name(name), &call["args"]));
    }
    let text = part["text"].as_str().filter(|text| !text.trim().is_empty() && part["thought"] != true);
    text.map(|text| builder.assistant_text(text))
}

fn result(builder: &RecordBuilder, part: &Value, failed: bool) -> Option<Value> {
    let result = &part["functionResponse"];
    let (id, tool) = (result["id"].as_str()?, our_name(result["name"].as_str()?));
    let response = &result["response"];
    let content = if response["output"].is_null() { &response["error"] } else { &response["output"] };
    let text = shell_output(&tool, &join_texts(content));
    Some(builder.tool_result(id, &text.into(), failed))
}
