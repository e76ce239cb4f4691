//! Rewrites the payloads that our plugin sends from OpenCode.

use serde_json::{Map, Value};

/// Rewrites a payload: tools and their fields get our names, and a command that failed is an error.
pub(super) fn rewrite(mut payload: Value) -> Value {
    let Some(fields) = payload.as_object_mut() else {
        return payload;
    };
    let Some(name) = fields.get("tool_name").and_then(Value::as_str) else {
        return payload;
    };
    let name = name.to_owned();
    let input = fields.remove("tool_input");
    let has_input = input.is_some();
    let (tool, input) = rewrite_tool(&name, input.unwrap_or_default());
    if has_input {
        fields.insert("tool_input".to_owned(), input);
    }
    fields.insert("tool_name".to_owned(), tool.into());
    let code = fields.remove("exit_code").and_then(|code| code.as_i64());
    if code.is_some_and(|code| code != 0)
        && let Some(response) = fields.get("tool_response").cloned()
    {
        fields.insert("error".to_owned(), response);
    }
    payload
}

/// A tool and its input by our names.
pub(super) fn rewrite_tool(name: &str, mut input: Value) -> (String, Value) {
    if let Value::Object(input) = &mut input {
        rename(input, "filePath", "file_path");
        rename(input, "oldString", "old_string");
        rename(input, "newString", "new_string");
    }
    (our_name(name), input)
}

/// Our name for a tool. The tools of an MCP server begin with its name, so that ours are recognised.
fn our_name(name: &str) -> String {
    match name {
        "bash" => "Bash".to_owned(),
        "read" => "Read".to_owned(),
        "write" => "Write".to_owned(),
        "edit" => "Edit".to_owned(),
        _ => match name.strip_prefix("claude-mem_") {
            Some(tool) => format!("mcp__claude-mem__{tool}"),
            None => name.to_owned(),
        },
    }
}

fn rename(input: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = input.remove(from) {
        input.entry(to).or_insert(value);
    }
}
