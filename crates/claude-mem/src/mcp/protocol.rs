//! JSON-RPC as MCP uses it over stdio: one message per line.

use serde_json::{Value, json};

pub const PARSE_ERROR: i64 = -32_700;
pub const BAD_REQUEST: i64 = -32_600;
pub const NO_SUCH_METHOD: i64 = -32_601;
pub const BAD_PARAMS: i64 = -32_602;

/// Versions of the protocol whose tools look the same to us, newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// From this version on a result may have structured content.
const STRUCTURE_SINCE: &str = "2025-06-18";

/// Clients that, given text and structure, show their model the structure alone, by how their
/// names begin.
const HIDE_TEXT: [&str; 2] = ["claude", "codex"];

/// One message from the client.
#[derive(Debug, PartialEq)]
pub enum Incoming {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Cancel {
        id: Value,
    },
    /// Needs no answer and changes nothing.
    Notification,
    /// Several at once, to be answered at once.
    Batch(Vec<Incoming>),
    /// JSON, but no message; with its id, where it has one.
    Bad(Value),
    Unreadable(String),
}

pub fn read(line: &[u8]) -> Incoming {
    match serde_json::from_slice(line) {
        Ok(Value::Array(messages)) if !messages.is_empty() => {
            Incoming::Batch(messages.iter().map(message).collect())
        }
        Ok(one) => message(&one),
        Err(e) => Incoming::Unreadable(format!("not JSON: {e}")),
    }
}

fn message(message: &Value) -> Incoming {
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        let is_answer = message.get("result").or(message.get("error")).is_some();
        return if is_answer {
            // To something that we never asked.
            Incoming::Notification
        } else {
            Incoming::Bad(message.get("id").cloned().unwrap_or(Value::Null))
        };
    };
    let params = message.get("params").cloned().unwrap_or(Value::Null);
    match message.get("id") {
        Some(id) if !id.is_null() => Incoming::Request {
            id: id.clone(),
            method: method.to_owned(),
            params,
        },
        _ if method == "notifications/cancelled" => Incoming::Cancel {
            id: params.get("requestId").cloned().unwrap_or(Value::Null),
        },
        _ => Incoming::Notification,
    }
}

/// The answer to `initialize`: the client's version of the protocol if we know it, else our newest.
pub fn initialized(params: &Value, instructions: &str) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let version = VERSIONS
        .into_iter()
        .find(|version| Some(*version) == asked)
        .unwrap_or(VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": { "listChanged": false } },
        "serverInfo": { "name": "claude-mem", "version": env!("CARGO_PKG_VERSION") },
        "instructions": instructions,
    })
}

/// Whether this client makes use of structure without keeping the text from its model.
pub fn takes_structure(params: &Value) -> bool {
    let version = params.get("protocolVersion").and_then(Value::as_str);
    let name = params.pointer("/clientInfo/name").and_then(Value::as_str);
    let name = name.unwrap_or_default().to_lowercase();
    // Versions are days, and sort as such.
    version.is_some_and(|version| version >= STRUCTURE_SINCE)
        && !name.is_empty()
        && !HIDE_TEXT.iter().any(|hides| name.starts_with(hides))
}

/// One message to the client, printed as one line.
#[derive(Debug, PartialEq)]
pub struct Reply(Value);

impl Reply {
    pub fn result(id: Value, result: Value) -> Self {
        Self(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    pub fn batch(replies: Vec<Self>) -> Self {
        Self(Value::Array(
            replies.into_iter().map(|reply| reply.0).collect(),
        ))
    }

    pub fn error(id: Value, code: i64, message: &str) -> Self {
        Self(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
    }
}

impl std::fmt::Display for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
