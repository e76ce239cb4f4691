//! Rewrites the hook payloads of Gemini CLI.

use serde_json::Value;

use super::tool_call::{GeminiToolCall, strip_hook_context};

/// Rewrites a payload: our own context is removed from the prompt, tools get our names.
pub(super) fn rewrite(mut payload: Value) -> Value {
    let Some(fields) = payload.as_object_mut() else {
        return payload;
    };
    if let Some(Value::String(prompt)) = fields.get_mut("prompt") {
        *prompt = strip_hook_context(prompt).to_owned();
    }
    if let Some(response) = fields.remove("prompt_response") {
        fields.insert("last_assistant_message".to_owned(), response);
    }
    let Some(name) = fields.get("tool_name").and_then(Value::as_str).map(str::to_owned) else {
        return payload;
    };
    let input = fields.remove("tool_input").unwrap_or_default();
    let response = fields.remove("tool_response").unwrap_or_default();
    let is_new = response["returnDisplay"]["isNewFile"].as_bool();
    let failed = !response["error"].is_null();
    let call = GeminiToolCall::new(&name, &input, &response["llmContent"], failed, is_new);
    let output = if call.failed { "error" } else { "tool_response" };
    fields.insert("tool_name".to_owned(), call.tool.into());
    fields.insert("tool_use_id".to_owned(), call.id.into());
    fields.insert("tool_input".to_owned(), input);
    fields.insert(output.to_owned(), call.output);
    payload
}
