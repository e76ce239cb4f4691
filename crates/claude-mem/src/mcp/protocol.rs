//! JSON-RPC as MCP uses it over stdio: one [`RpcMessage`] or [`RpcReply`] per line.

use claude_mem_core::agents::CodingAgent;
use serde_json::{Value, json};

pub(crate) const PARSE_ERROR: i64 = -32_700;
pub(crate) const BAD_REQUEST: i64 = -32_600;
pub(crate) const NO_SUCH_METHOD: i64 = -32_601;
pub(crate) const BAD_PARAMS: i64 = -32_602;

/// Supported protocol versions, newest first; they do not differ in what we use.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// First version with structured content in tool results.
const STRUCTURE_SINCE: &str = "2025-06-18";

/// One message from the client.
#[derive(Debug, PartialEq)]
pub(crate) enum RpcMessage {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Cancel {
        id: Value,
    },
    /// Needs no reply and has no effect.
    Notification,
    /// Several messages, to be answered in one reply.
    Batch(Vec<RpcMessage>),
    /// JSON, but not a valid message; with its id, if any.
    Invalid(Value),
    /// Not JSON, or too long.
    Malformed(String),
}

/// Parses one line.
pub(crate) fn parse_line(line: &[u8]) -> RpcMessage {
    match serde_json::from_slice(line) {
        Ok(Value::Array(messages)) if !messages.is_empty() => {
            RpcMessage::Batch(messages.iter().map(parse_message).collect())
        }
        Ok(one) => parse_message(&one),
        Err(e) => RpcMessage::Malformed(format!("invalid JSON: {e}")),
    }
}

fn parse_message(message: &Value) -> RpcMessage {
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        let is_answer = message.get("result").or(message.get("error")).is_some();
        return if is_answer {
            // A response; we never send requests.
            RpcMessage::Notification
        } else {
            RpcMessage::Invalid(message.get("id").cloned().unwrap_or(Value::Null))
        };
    };
    let params = message.get("params").cloned().unwrap_or(Value::Null);
    match message.get("id") {
        Some(id) if !id.is_null() => {
            RpcMessage::Request { id: id.clone(), method: method.to_owned(), params }
        }
        _ if method == "notifications/cancelled" => {
            RpcMessage::Cancel { id: params.get("requestId").cloned().unwrap_or(Value::Null) }
        }
        _ => RpcMessage::Notification,
    }
}

/// The result of `initialize`: the client's protocol version if supported, else our newest.
pub(crate) fn initialize_result(params: &Value, instructions: &str) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let version = VERSIONS.into_iter().find(|version| Some(*version) == asked).unwrap_or(VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": { "listChanged": false } },
        "serverInfo": { "name": "claude-mem", "version": env!("CARGO_PKG_VERSION") },
        "instructions": instructions,
    })
}

/// Whether to send structured content: the client supports it and does not hide the text from its
/// model.
pub(crate) fn accepts_structured(params: &Value) -> bool {
    let version = params.get("protocolVersion").and_then(Value::as_str);
    let name = params.pointer("/clientInfo/name").and_then(Value::as_str);
    let name = name.unwrap_or_default().to_lowercase();
    // Versions are dates and compare as strings.
    version.is_some_and(|version| version >= STRUCTURE_SINCE)
        && !name.is_empty()
        && !CodingAgent::mcp_client_hides_text(&name)
}

/// One message to the client, displayed as one line.
#[derive(Debug, PartialEq)]
pub(crate) struct RpcReply(Value);

impl RpcReply {
    pub(crate) fn result(id: Value, result: Value) -> Self {
        Self(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    pub(crate) fn batch(replies: Vec<Self>) -> Self {
        Self(Value::Array(replies.into_iter().map(|reply| reply.0).collect()))
    }

    pub(crate) fn error(id: Value, code: i64, message: &str) -> Self {
        Self(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
    }
}

impl std::fmt::Display for RpcReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
