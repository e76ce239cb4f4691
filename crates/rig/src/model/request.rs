//! A request as it reached the model ([`RecordedRequest`]), with accessors for tests.

use std::fmt;

use serde_json::Value;

use super::turn::TurnSource;

/// One recorded HTTP request.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    pub api: ModelApi,
    pub method: String,
    pub path: String,
    /// Header names are in lower case.
    pub headers: Vec<(String, String)>,
    /// The parsed body; null if there is none or it is not JSON.
    pub body: Value,
    pub body_bytes: usize,
    /// The part of the script that answered it.
    pub source: TurnSource,
    /// Size of the whole response, head included, before any fault was applied.
    pub answer_bytes: usize,
}

/// The API of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelApi {
    /// Anthropic's Messages API.
    Messages,
    /// OpenAI's chat completions and compatible APIs.
    Chat,
    /// OpenAI's Responses API.
    Responses,
    Gemini,
    CountTokens,
    /// Probes and any other request of a client.
    Other,
}

/// The result of a tool call, as reported to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    pub text: String,
    pub is_error: bool,
}

impl ModelApi {
    pub(crate) fn from_request(method: &str, path: &str) -> Self {
        let path = path.split('?').next().unwrap_or_default();
        if method != "POST" {
            Self::Other
        } else if path.ends_with("/messages") {
            Self::Messages
        } else if path.ends_with("/chat/completions") {
            Self::Chat
        } else if path.ends_with("/responses") {
            Self::Responses
        } else if path.ends_with("/count_tokens") || path.ends_with(":countTokens") {
            Self::CountTokens
        } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            Self::Gemini
        } else {
            Self::Other
        }
    }
}

impl RecordedRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The requested model, from the body or, for Gemini, from the path.
    pub fn model(&self) -> String {
        if let Some(model) = self.body["model"].as_str() {
            return model.to_owned();
        }
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.split(':').next().unwrap_or_default().to_owned()
    }

    pub fn offers_tools(&self) -> bool {
        self.body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
    }

    pub fn tool_names(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        tools.iter().filter_map(|tool| tool["name"].as_str().or(tool["function"]["name"].as_str())).collect()
    }

    /// The system prompt, wherever this API puts it.
    pub fn system(&self) -> String {
        let mut text = flatten_text(&self.body["system"]) + &flatten_text(&self.body["systemInstruction"]);
        for message in self.conversation() {
            if matches!(message["role"].as_str(), Some("system" | "developer")) {
                text += &flatten_text(message);
            }
        }
        text
    }

    /// The text of the last user message, tool results included.
    pub fn last_user(&self) -> String {
        let users = self.conversation().iter().rev();
        users.filter(|m| m["role"] == "user").map(flatten_text).next().unwrap_or_default()
    }

    /// The tool results of the whole conversation, oldest first.
    pub fn tool_results(&self) -> Vec<ToolResult> {
        let blocks = self.conversation().iter().filter_map(|m| m["content"].as_array()).flatten();
        blocks
            .filter(|block| block["type"] == "tool_result")
            .map(|block| ToolResult {
                text: flatten_text(&block["content"]),
                is_error: block["is_error"] == true,
            })
            .collect()
    }

    /// Whether any string of the body contains this text.
    pub fn contains_text(&self, text: &str) -> bool {
        value_contains(&self.body, text)
    }

    fn conversation(&self) -> &[Value] {
        let list = |name: &str| self.body[name].as_array();
        let messages = list("messages").or(list("contents")).or(list("input"));
        messages.map_or(&[][..], Vec::as_slice)
    }
}

/// One line with the request and the source of its answer.
impl fmt::Display for RecordedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: Vec<char> = self.last_user().chars().collect();
        let end: String = text[text.len().saturating_sub(EXCERPT_CHARS)..].iter().collect();
        let tools = self.tool_names().len();
        write!(f, "{} {} ", self.method, self.path)?;
        write!(f, "<- {:?}, {tools} tools, model {:?}, ends {end:?}", self.source, self.model())
    }
}

const EXCERPT_CHARS: usize = 80;

/// Flattens a message, a block or a list of blocks to its text.
fn flatten_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(flatten_text).collect::<Vec<_>>().join("\n"),
        Value::Object(block) => {
            let inner = ["text", "content", "parts"].iter().find_map(|key| block.get(*key));
            inner.map(flatten_text).unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn value_contains(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(values) => values.iter().any(|value| value_contains(value, text)),
        Value::Object(map) => map.values().any(|value| value_contains(value, text)),
        _ => false,
    }
}
