//! What a tool says back.

use serde_json::{Value, json};

/// Text for the model, and the same as data for clients that take it.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    text: String,
    data: Option<Value>,
}

impl Said {
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            data: None,
        }
    }

    pub fn with(text: String, data: Value) -> Self {
        Self {
            text,
            data: Some(data),
        }
    }

    pub fn to_json(&self, is_error: bool) -> Value {
        let mut result = json!({ "content": [{ "type": "text", "text": self.text }] });
        if let Some(data) = &self.data {
            result["structuredContent"] = data.clone();
        }
        if is_error {
            result["isError"] = json!(true);
        }
        result
    }
}
