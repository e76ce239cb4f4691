//! Names of tools, and the text that they give to the model.

use serde_json::Value;

/// Lines before and after the output of a command.
const OUTPUT_HEAD: &str = "\nOutput: ";
const OUTPUT_ENDS: [&str; 4] = ["\nError: ", "\nExit Code: ", "\nSignal: ", "\nProcess Group PGID: "];

/// Our name for a tool. Those of MCP servers are named as in Claude Code.
pub(super) fn our_name(name: &str) -> String {
    let ours = match name {
        "run_shell_command" => "Bash",
        "read_file" => "Read",
        "write_file" => "Write",
        "edit" => "Edit",
        other => other,
    };
    ours.to_owned()
}

pub(super) fn join_texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.as_str().or(part["text"].as_str()));
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The output of a command, without the lines that the client adds; the text of any other tool, unchanged.
pub(super) fn shell_output(tool: &str, text: &str) -> String {
    if tool != "Bash" || !text.starts_with("Command: ") {
        return text.to_owned();
    }
    let Some((_, rest)) = text.split_once(OUTPUT_HEAD) else {
        return text.to_owned();
    };
    // The last frame is the client's: the command may have printed such lines, too.
    let end = OUTPUT_ENDS.iter().filter_map(|end| rest.rfind(end)).min().unwrap_or(rest.len());
    let output = &rest[..end];
    if output == "(empty)" { String::new() } else { output.to_owned() }
}
