//! Reads the event logs of Copilot CLI: one event per line, with its data, a time and, in a subagent, its agent.

use serde_json::Value;

use super::tool_call::{CopilotToolOutput, our_input, our_name};
use crate::agents::record::RecordBuilder;

/// Translates one line; `None` if it is not JSON. A subagent's events are reported by hooks only.
pub(super) fn translate(line: &str) -> Option<Vec<Value>> {
    let event: Value = serde_json::from_str(line).ok()?;
    if event["agentId"].is_string() {
        return Some(Vec::new());
    }
    let builder = RecordBuilder::new(&event["timestamp"], None);
    let data = &event["data"];
    Some(match event["type"].as_str().unwrap_or_default() {
        "session.start" => {
            let context = &data["context"];
            let more = [
                ("cwd", &context["cwd"]),
                ("gitBranch", &context["branch"]),
                ("version", &data["copilotVersion"]),
            ];
            vec![builder.header(&data["sessionId"], more)]
        }
        "user.message" => prompt(&builder, data).into_iter().collect(),
        "assistant.message" => {
            let text = data["content"].as_str().filter(|text| !text.trim().is_empty());
            let calls_tools = data["toolRequests"].as_array().is_some_and(|calls| !calls.is_empty());
            text.map(|text| builder.assistant_message(text, !calls_tools)).into_iter().collect()
        }
        "tool.execution_start" => call(&builder, data).into_iter().collect(),
        "tool.execution_complete" => result(&builder, data).into_iter().collect(),
        "session.compaction_complete" => {
            let summary = data["summaryContent"].as_str().filter(|text| !text.trim().is_empty());
            summary.map(|text| builder.compact_summary(text)).into_iter().collect()
        }
        _ => Vec::new(),
    })
}

/// The text that the user typed. A message with a source is from a skill or another agent.
fn prompt(builder: &RecordBuilder, data: &Value) -> Option<Value> {
    let is_typed = data["source"].is_null() && data["isAutopilotContinuation"] != true;
    let text = data["content"].as_str().filter(|text| is_typed && !text.trim().is_empty());
    text.map(|text| builder.prompt(text))
}

fn call(builder: &RecordBuilder, data: &Value) -> Option<Value> {
    let tool = our_name(data["toolName"].as_str()?);
    let input = our_input(&tool, data["arguments"].clone());
    Some(builder.tool_call(data["toolCallId"].as_str()?, &tool, &input))
}

/// The result of a call, whose name and input are in an earlier line.
fn result(builder: &RecordBuilder, data: &Value) -> Option<Value> {
    let id = data["toolCallId"].as_str()?;
    let (text, failed) = match data["error"]["message"].as_str() {
        Some(error) => (error, true),
        None => (data["result"]["content"].as_str().unwrap_or_default(), data["success"] == false),
    };
    let output = CopilotToolOutput::new(text);
    let failed = failed || output.failed;
    Some(builder.tool_result_with_digest(id, &output.text.into(), failed, &output.digest))
}
