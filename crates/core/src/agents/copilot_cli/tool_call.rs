//! Names, inputs and outputs of tools, the same from a hook and from the event log.

use serde_json::{Map, Value, json};

use crate::agents::record::derived_call_id;
use crate::event_key;

/// Between the output of a tool and the context that hooks have added to it.
const GUIDANCE: &str = " succeeded. Additional guidance from postToolUse hooks:\n";
/// How the last line of a command's output begins.
const SHELL_LINE: &str = "<shellId: ";
const SHELL_EXIT: &str = " completed with exit code ";

/// The client's names of fields of a tool's input, and ours.
const INPUT_FIELDS: [(&str, &str); 4] =
    [("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string"), ("file_text", "content")];

/// The tool's output as the model received it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CopilotToolOutput {
    /// Without the lines that the client and hooks add.
    pub(super) text: String,
    /// Set for a command that failed.
    pub(super) failed: bool,
    /// A digest of the text as the client wrote it. The number of the shell tells equal commands apart.
    pub(super) digest: String,
}

/// Our name for a tool. Hooks give most tools the names of Claude Code already.
pub(super) fn our_name(name: &str) -> String {
    let ours = match name {
        "bash" => "Bash",
        "view" => "Read",
        "create" => "Write",
        "edit" => "Edit",
        "grep" => "Grep",
        "glob" => "Glob",
        "task" => "Agent",
        // A server and a tool are joined by a hyphen, which names may contain: only our own can be told.
        other => match other.strip_prefix("claude-mem-") {
            Some(tool) => return format!("mcp__claude-mem__{tool}"),
            None => other,
        },
    };
    ours.to_owned()
}

/// A tool's input by our names. A patch is the input itself.
pub(super) fn our_input(tool: &str, input: Value) -> Value {
    match input {
        Value::Object(fields) if matches!(tool, "Read" | "Write" | "Edit") => {
            let renamed = fields.into_iter().map(|(name, value)| {
                let ours = INPUT_FIELDS.iter().find(|(theirs, _)| *theirs == name);
                (ours.map_or(name, |(_, ours)| (*ours).to_owned()), value)
            });
            Value::Object(renamed.collect::<Map<_, _>>())
        }
        Value::String(text) => json!({ "command": text }),
        other => other,
    }
}

impl CopilotToolOutput {
    pub(super) fn new(text: &str) -> Self {
        let text = strip_guidance(text);
        let digest = event_key::hex(&event_key::digest(&[text.trim_end().as_bytes()]));
        let (said, code) = split_shell(text);
        Self { text: said.to_owned(), failed: code.is_some_and(|code| code != 0), digest }
    }

    /// The id of the call: the client gives hooks none, so it is derived from the call itself.
    pub(super) fn call_id(&self, tool: &str, input: &Value) -> String {
        derived_call_id(tool, &input.to_string(), &self.digest)
    }
}

/// A tool's text without the context that hooks have put after it. Context that looks like the beginning of
/// another one cannot be told from it, so the first one counts.
fn strip_guidance(text: &str) -> &str {
    let Some(at) = text.find(GUIDANCE) else {
        return text;
    };
    text[..at].rfind("\n\nTool \"").map_or(text, |start| &text[..start])
}

/// The output of a command, and its exit code if the client tells one.
fn split_shell(text: &str) -> (&str, Option<i64>) {
    let trimmed = text.trim_end();
    let (said, last) = trimmed.rsplit_once('\n').unwrap_or(("", trimmed));
    let code = last.strip_prefix(SHELL_LINE).and_then(|rest| rest.strip_suffix('>'));
    match code.and_then(|rest| rest.split_once(SHELL_EXIT)?.1.parse().ok()) {
        Some(code) => (said, Some(code)),
        None => (text, None),
    }
}
