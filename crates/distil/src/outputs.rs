//! The text of a tool's result, in the shapes of all clients.

use crate::limits::DISTIL_TEXT_BYTES_MAX;
use serde_json::Value;

use super::text::{head, tail};

/// Maximum parts of a list that are read.
const PARTS_MAX: usize = 64;

/// All the text of a result: the output, then what went to the error stream.
pub(super) fn text(output: &Value) -> String {
    let mut found = String::new();
    collect(output, &mut found, 0);
    if found.len() > DISTIL_TEXT_BYTES_MAX {
        // What a run was about stands first, how it ended last.
        let half = DISTIL_TEXT_BYTES_MAX / 2;
        return format!("{}\n{}", head(&found, half), tail(&found, half));
    }
    found
}

fn collect(value: &Value, found: &mut String, depth: usize) {
    match value {
        Value::String(text) => {
            if !found.is_empty() && !text.is_empty() {
                found.push('\n');
            }
            found.push_str(text);
        }
        Value::Array(parts) if depth < 4 => {
            parts.iter().take(PARTS_MAX).for_each(|part| collect(part, found, depth + 1));
        }
        Value::Object(fields) if depth < 4 => {
            let known = ["stdout", "stderr", "error", "text", "content", "output", "result"];
            let mut seen = false;
            for name in known {
                if let Some(field) = fields.get(name) {
                    collect(field, found, depth + 1);
                    seen = true;
                }
            }
            if !seen && let Some(shown) = fields.get("returnDisplay").or_else(|| fields.get("llmContent")) {
                collect(shown, found, depth + 1);
            }
        }
        _ => {}
    }
}

/// A text field of an object, by the first of these names that it has.
pub(super) fn field<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| value.get(name).and_then(Value::as_str)).filter(|text| !text.is_empty())
}
