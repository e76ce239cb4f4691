//! [`GeminiToolCall`]: one tool call, from a hook or from a session file.

use serde_json::{Value, json};

use crate::event_key;

const CONTEXT_OPEN: &str = "<hook_context>";
const CONTEXT_CLOSE: &str = "</hook_context>";
const UNTRUSTED_OPEN: &str = "<untrusted_context>";
const UNTRUSTED_CLOSE: &str = "</untrusted_context>";

/// Lines that the client adds to the output of a command.
const SHELL_LINES: [&str; 5] =
    ["Exit Code: ", "Process Group PGID: ", "Background PIDs: ", "Signal: ", "Error: (none)"];

/// A tool call by our names.
#[derive(Debug)]
pub(super) struct GeminiToolCall {
    /// The client gives hooks no id, so this one is derived from the call: it is the same in a hook and in a
    /// session file. The process group, which is part of a command's output, tells equal commands apart.
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) output: Value,
    pub(super) failed: bool,
}

impl GeminiToolCall {
    /// `content` is the text for the model; `is_new` says whether a written file did not exist before.
    pub(super) fn new(
        name: &str,
        input: &Value,
        content: &Value,
        failed: bool,
        is_new: Option<bool>,
    ) -> Self {
        let text = join_texts(content);
        let text = strip_trailing_context(&text);
        let parts = [name.as_bytes(), input.to_string().as_bytes(), text.as_bytes()].map(<[u8]>::to_vec);
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        let id = format!("gemini-{}", event_key::hex(&event_key::digest(&parts)));
        let text = strip_untrusted(text);
        let tool = our_name(name);
        let (output, exit_code) = if tool == "Bash" { split_shell(text) } else { (text.to_owned(), None) };
        let output = match is_new {
            Some(is_new) if tool == "Write" => {
                json!({ "type": if is_new { "create" } else { "update" }, "content": output })
            }
            _ => output.into(),
        };
        Self { id, tool, output, failed: failed || exit_code.is_some_and(|code| code != 0) }
    }
}

/// Our name for a tool.
fn our_name(name: &str) -> String {
    match name {
        "run_shell_command" => "Bash".to_owned(),
        "read_file" => "Read".to_owned(),
        "write_file" => "Write".to_owned(),
        "replace" => "Edit".to_owned(),
        _ => match name.strip_prefix("mcp_").and_then(|rest| rest.split_once('_')) {
            Some((server, tool)) => format!("mcp__{server}__{tool}"),
            None => name.to_owned(),
        },
    }
}

fn join_texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> =
                parts.iter().filter_map(|part| part.as_str().or(part["text"].as_str())).collect();
            texts.join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A prompt without the context that hooks have put before it. The client escapes angle brackets in it.
pub(super) fn strip_hook_context(prompt: &str) -> &str {
    let mut rest = prompt;
    while let Some(inside) = rest.trim_start().strip_prefix(CONTEXT_OPEN) {
        match inside.split_once(CONTEXT_CLOSE) {
            Some((_, after)) => rest = after.trim_start(),
            None => return "",
        }
    }
    rest
}

/// A tool's text without the context that hooks have put after it.
fn strip_trailing_context(text: &str) -> &str {
    let mut rest = text.trim_end();
    while let Some(inside) = rest.strip_suffix(CONTEXT_CLOSE) {
        match inside.rfind(CONTEXT_OPEN) {
            Some(at) => rest = inside[..at].trim_end(),
            None => break,
        }
    }
    rest
}

fn strip_untrusted(text: &str) -> &str {
    let inside = text.strip_prefix(UNTRUSTED_OPEN).and_then(|rest| rest.strip_suffix(UNTRUSTED_CLOSE));
    inside.map_or(text, str::trim)
}

/// The output of a command, and its exit code if the client tells one.
fn split_shell(text: &str) -> (String, Option<i64>) {
    let code = text.lines().rev().find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok());
    let mut lines: Vec<&str> = text.lines().collect();
    while lines.last().is_some_and(|line| SHELL_LINES.iter().any(|begin| line.starts_with(begin))) {
        lines.pop();
    }
    let said = lines.join("\n");
    let said = said.strip_prefix("Output: ").unwrap_or(&said);
    (if said == "(empty)" { String::new() } else { said.to_owned() }, code)
}
