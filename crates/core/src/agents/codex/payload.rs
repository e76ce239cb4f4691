//! Rewrites the hook payloads of Codex.

use serde_json::Value;

/// Rewrites a payload: the turn identifies the prompt, and a patch that failed is an error.
pub(super) fn rewrite(mut payload: Value) -> Value {
    let Some(fields) = payload.as_object_mut() else {
        return payload;
    };
    if let Some(turn) = fields.remove("turn_id") {
        fields.entry("prompt_id").or_insert(turn);
    }
    let response = fields.get("tool_response").and_then(Value::as_str);
    let failed = response.and_then(|text| text.strip_prefix("Exit code: "));
    let failed = failed.and_then(|rest| rest.lines().next()?.trim().parse::<i64>().ok());
    if failed.is_some_and(|code| code != 0)
        && let Some(response) = fields.get("tool_response").cloned()
    {
        fields.insert("error".to_owned(), response);
    }
    payload
}
