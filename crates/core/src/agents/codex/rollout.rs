//! Reads the transcripts of Codex: lines with a time, a type and a payload.

use serde_json::{Value, json};

use crate::agents::record::RecordBuilder;

/// Texts of the user's role that Codex writes itself, by their beginning.
const CLIENT_TEXTS: [&str; 6] = [
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<turn_aborted>",
    "<subagent_notification>",
    "# AGENTS.md instructions",
];

/// The output of a command follows this line.
const OUTPUT_HEAD: &str = "Output:\n";

/// Translates one line; `None` if it is not JSON.
pub(super) fn translate(line: &str) -> Option<Vec<Value>> {
    let record: Value = serde_json::from_str(line).ok()?;
    let payload = &record["payload"];
    let metadata = &payload["internal_chat_message_metadata_passthrough"];
    let builder = RecordBuilder::new(&record["timestamp"], metadata["turn_id"].as_str());
    let kinds = (record["type"].as_str().unwrap_or_default(), payload["type"].as_str().unwrap_or_default());
    Some(match kinds {
        ("session_meta", _) => {
            let session = if payload["id"].is_string() { &payload["id"] } else { &payload["session_id"] };
            let more = [
                ("cwd", &payload["cwd"]),
                ("gitBranch", &payload["git"]["branch"]),
                ("version", &payload["cli_version"]),
            ];
            vec![builder.header(session, more)]
        }
        ("compacted", _) => {
            let summary = payload["message"].as_str().filter(|text| !text.trim().is_empty());
            summary.map(|text| builder.compact_summary(text)).into_iter().collect()
        }
        ("response_item", "message") => message(&builder, payload, metadata),
        ("response_item", "function_call") => function_call(&builder, payload),
        ("response_item", "custom_tool_call") => {
            let input = json!({ "command": payload["input"] });
            call(&builder, payload, payload["name"].as_str().unwrap_or_default(), &input)
        }
        ("response_item", "function_call_output" | "custom_tool_call_output") => result(&builder, payload),
        _ => Vec::new(),
    })
}

/// A message of the user or the agent. Messages of developers are instructions and context of the client.
fn message(builder: &RecordBuilder, payload: &Value, metadata: &Value) -> Vec<Value> {
    let kinds = metadata["content_item_kinds"].as_array();
    let items = payload["content"].as_array().map_or(&[][..], Vec::as_slice);
    let is_typed = |at: usize, text: &str| match kinds.and_then(|kinds| kinds.get(at)?.as_str()) {
        Some(kind) => kind == "user.text",
        None => !CLIENT_TEXTS.iter().any(|begin| text.trim_start().starts_with(begin)),
    };
    let texts = items.iter().enumerate().filter_map(|(at, item)| Some((at, item["text"].as_str()?)));
    match payload["role"].as_str() {
        Some("user") => {
            let typed: Vec<&str> =
                texts.filter(|(at, text)| is_typed(*at, text)).map(|(_, text)| text).collect();
            if typed.is_empty() { Vec::new() } else { vec![builder.prompt(&typed.join("\n"))] }
        }
        Some("assistant") => {
            let said: Vec<&str> = texts.map(|(_, text)| text).collect();
            vec![builder.assistant_text(&said.join("\n"))]
        }
        _ => Vec::new(),
    }
}

fn function_call(builder: &RecordBuilder, payload: &Value) -> Vec<Value> {
    let arguments: Value =
        payload["arguments"].as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let name = payload["name"].as_str().unwrap_or_default();
    match (payload["namespace"].as_str(), name) {
        (Some(server), _) => call(builder, payload, &format!("{server}__{name}"), &arguments),
        (None, "exec_command") => call(builder, payload, "Bash", &json!({ "command": arguments["cmd"] })),
        (None, "shell" | "local_shell") => {
            call(builder, payload, "Bash", &json!({ "command": arguments["command"] }))
        }
        _ => call(builder, payload, name, &arguments),
    }
}

fn call(builder: &RecordBuilder, payload: &Value, tool: &str, input: &Value) -> Vec<Value> {
    let id = payload["call_id"].as_str();
    id.map(|id| builder.tool_call(id, tool, input)).into_iter().collect()
}

fn result(builder: &RecordBuilder, payload: &Value) -> Vec<Value> {
    let Some(id) = payload["call_id"].as_str() else {
        return Vec::new();
    };
    let output = &payload["output"];
    let Some(text) = output.as_str() else {
        return vec![builder.tool_result(id, output, false)];
    };
    let (head, said) = text.rsplit_once(OUTPUT_HEAD).unwrap_or(("", text));
    let code = exit_code(head);
    let is_refused = head.is_empty() && text.starts_with("unsupported c");
    vec![builder.tool_result(id, &said.into(), code.is_some_and(|code| code != 0) || is_refused)]
}

/// The exit code in the lines before a command's output.
fn exit_code(head: &str) -> Option<i64> {
    let code = |line: &str| {
        let rest = line.strip_prefix("Process exited with code ").or(line.strip_prefix("Exit code: "))?;
        rest.trim().parse().ok()
    };
    head.lines().find_map(code)
}

/// The exit code of a command, from the report that Codex writes before it runs the hook.
pub(super) fn find_exit_code(lines: &str, tool_use_id: &str) -> Option<i64> {
    lines.lines().rev().filter(|line| line.contains(tool_use_id) && line.contains("\"exit_code\"")).find_map(
        |line| {
            let record: Value = serde_json::from_str(line).ok()?;
            let item = &record["payload"]["item"];
            (item["id"] == tool_use_id).then(|| item["exit_code"].as_i64()).flatten()
        },
    )
}
