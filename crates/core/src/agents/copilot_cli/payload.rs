//! Rewrites the hook payloads of Copilot CLI.

use serde_json::{Map, Value};

use super::tool_call::{CopilotToolOutput, our_input, our_name};

/// The name of an event that is not ours: prompts and ends of turns of a subagent.
const SUBAGENT_EVENT: &str = "SubagentTurn";

/// Rewrites a payload: tools get our names, a call gets an id, and calls of a subagent belong to the session that
/// started it.
pub(super) fn rewrite(mut payload: Value) -> Value {
    let Some(fields) = payload.as_object_mut() else {
        return payload;
    };
    if fields.get("source").and_then(Value::as_str) == Some("new") {
        fields.insert("source".to_owned(), "startup".into());
    }
    if let Some(parent) = fields.remove("parent_agent_id") {
        let event = fields.get("hook_event_name").and_then(Value::as_str);
        if matches!(event, Some("UserPromptSubmit" | "Stop")) {
            fields.insert("hook_event_name".to_owned(), SUBAGENT_EVENT.into());
        }
        fields.insert("session_id".to_owned(), parent);
    }
    rewrite_call(fields);
    payload
}

fn rewrite_call(fields: &mut Map<String, Value>) {
    let Some(tool) = fields.get("tool_name").and_then(Value::as_str).map(our_name) else {
        return;
    };
    let input = our_input(&tool, fields.remove("tool_input").unwrap_or_default());
    let error = fields.get("error").and_then(Value::as_str);
    let result = fields.get("tool_result").map(|result| &result["text_result_for_llm"]);
    let text = error.or(result.and_then(Value::as_str)).unwrap_or_default();
    let output = CopilotToolOutput::new(text);
    let id = output.call_id(&tool, &input);
    let failed = error.is_some() || output.failed;
    fields.remove("tool_result");
    fields.insert(if failed { "error" } else { "tool_response" }.to_owned(), output.text.into());
    fields.insert("tool_name".to_owned(), tool.into());
    fields.insert("tool_input".to_owned(), input);
    fields.insert("tool_use_id".to_owned(), id.into());
}
