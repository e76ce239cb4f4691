//! Rewrites the hook payloads of Codex.

use serde_json::{Map, Value};

use super::printed_file::printed_file;

/// Rewrites a payload: the turn identifies the prompt, a command that prints a file names it, and a patch that
/// failed is an error.
pub(super) fn rewrite(mut payload: Value) -> Value {
    let Some(fields) = payload.as_object_mut() else {
        return payload;
    };
    if let Some(turn) = fields.remove("turn_id") {
        fields.entry("prompt_id").or_insert(turn);
    }
    name_printed_file(fields);
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

/// Adds the path of the file that a command prints to its input.
fn name_printed_file(fields: &mut Map<String, Value>) {
    if fields.get("tool_name").and_then(Value::as_str) != Some("Bash") {
        return;
    }
    let cwd = fields.get("cwd").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Some(Value::Object(input)) = fields.get_mut("tool_input") else {
        return;
    };
    let file = input.get("command").and_then(Value::as_str).and_then(|line| printed_file(line, &cwd));
    if let Some(file) = file {
        input.entry("file_path").or_insert_with(|| file.into());
    }
}
