//! Rewrites the hook payloads of Qwen Code.

use serde_json::Value;

use super::tool_text::{join_texts, our_name, shell_output};

/// Rewrites a payload: a call has the id of the transcript, tools get our names, outputs lose the client's frame.
pub(super) fn rewrite(mut payload: Value) -> Value {
    let Some(fields) = payload.as_object_mut() else {
        return payload;
    };
    // The transcript does not tell it, and both must give an event the same key.
    fields.remove("prompt_id");
    if let Some(id) = fields.remove("tool_call_id") {
        fields.insert("tool_use_id".to_owned(), id);
    }
    let Some(tool) = fields.get("tool_name").and_then(Value::as_str).map(our_name) else {
        return payload;
    };
    if let Some(response) = fields.remove("tool_response") {
        let text = join_texts(&response["llmContent"]);
        fields.insert("tool_response".to_owned(), shell_output(&tool, &text).into());
    }
    if let Some(error) = fields.get("error").and_then(Value::as_str) {
        let error = shell_output(&tool, error);
        fields.insert("error".to_owned(), error.into());
    }
    fields.insert("tool_name".to_owned(), tool.into());
    payload
}
