//! What a tool says back.

use serde_json::{Value, json};

/// Text for the model, and nothing beside it: where a result has structured content too, clients
/// hand the model that alone, and the words that make it readable are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said(String);

impl Said {
    pub fn text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn to_json(&self, is_error: bool) -> Value {
        let mut result = json!({ "content": [{ "type": "text", "text": self.0 }] });
        if is_error {
            result["isError"] = json!(true);
        }
        result
    }
}
