//! A request as it reached the model, with the questions that tests ask of it.

use std::fmt;

use serde_json::Value;

use super::script::Source;

/// One HTTP request, kept whole.
#[derive(Clone, Debug)]
pub struct Request {
    pub face: Face,
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The parsed body; null if there was none or it is not JSON.
    pub body: Value,
    pub body_bytes: usize,
    /// What answered it.
    pub source: Source,
    /// The whole response in bytes, head included, before any fault was applied.
    pub answer_bytes: usize,
}

/// Which API the request speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// Anthropic's Messages API.
    Messages,
    /// OpenAI's chat completions and everything compatible with it.
    Chat,
    Gemini,
    CountTokens,
    /// Probes and whatever else clients ask for.
    Other,
}

/// The outcome of a tool call, as it was reported to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    pub text: String,
    pub is_error: bool,
}

impl Face {
    pub(crate) fn of(method: &str, path: &str) -> Self {
        let path = path.split('?').next().unwrap_or_default();
        if method != "POST" {
            Self::Other
        } else if path.ends_with("/messages") {
            Self::Messages
        } else if path.ends_with("/chat/completions") {
            Self::Chat
        } else if path.ends_with("/count_tokens") || path.ends_with(":countTokens") {
            Self::CountTokens
        } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            Self::Gemini
        } else {
            Self::Other
        }
    }
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// The model asked for, from the body or, for Gemini, from the path.
    pub fn model(&self) -> String {
        if let Some(model) = self.body["model"].as_str() {
            return model.to_owned();
        }
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.split(':').next().unwrap_or_default().to_owned()
    }

    pub fn offers_tools(&self) -> bool {
        self.body["tools"]
            .as_array()
            .is_some_and(|tools| !tools.is_empty())
    }

    pub fn tool_names(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        tools
            .iter()
            .filter_map(|tool| tool["name"].as_str().or(tool["function"]["name"].as_str()))
            .collect()
    }

    /// The system prompt, wherever this API keeps it.
    pub fn system(&self) -> String {
        let mut text = text_of(&self.body["system"]) + &text_of(&self.body["systemInstruction"]);
        for message in self.conversation() {
            if matches!(message["role"].as_str(), Some("system" | "developer")) {
                text += &text_of(message);
            }
        }
        text
    }

    /// The text of the last message of the user, tool results included.
    pub fn last_user(&self) -> String {
        let users = self.conversation().iter().rev();
        users
            .filter(|m| m["role"] == "user")
            .map(text_of)
            .next()
            .unwrap_or_default()
    }

    /// Results of tool calls in the whole conversation, oldest first.
    pub fn tool_results(&self) -> Vec<ToolResult> {
        let blocks = self
            .conversation()
            .iter()
            .filter_map(|m| m["content"].as_array())
            .flatten();
        blocks
            .filter(|block| block["type"] == "tool_result")
            .map(|block| ToolResult {
                text: text_of(&block["content"]),
                is_error: block["is_error"] == true,
            })
            .collect()
    }

    /// Whether any string of the body contains this text.
    pub fn says(&self, text: &str) -> bool {
        contains(&self.body, text)
    }

    fn conversation(&self) -> &[Value] {
        let messages = self.body["messages"]
            .as_array()
            .or(self.body["contents"].as_array());
        messages.map_or(&[][..], Vec::as_slice)
    }
}

/// One line: what was asked, and what answered.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said: String = self.last_user().chars().rev().take(SAID_CHARS).collect();
        let said: String = said.chars().rev().collect();
        let tools = self.tool_names().len();
        write!(f, "{} {} ", self.method, self.path)?;
        write!(
            f,
            "<- {:?}, {tools} tools, model {:?}, ends {said:?}",
            self.source,
            self.model()
        )
    }
}

const SAID_CHARS: usize = 80;

/// Flattens a message, a block or a list of blocks to its text.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(block) => {
            let inner = ["text", "content", "parts"]
                .iter()
                .find_map(|key| block.get(*key));
            inner.map(text_of).unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn contains(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(values) => values.iter().any(|value| contains(value, text)),
        Value::Object(map) => map.values().any(|value| contains(value, text)),
        _ => false,
    }
}
