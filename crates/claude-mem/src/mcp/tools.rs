//! What a tool says back.

use serde_json::{Value, json};

/// Text for the model, and the same as a structure for clients that take one without keeping the
/// text from the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    text: String,
    structure: Option<Value>,
}

impl Said {
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            structure: None,
        }
    }

    /// `structure` is an object.
    #[must_use]
    pub fn with(mut self, structure: Value) -> Self {
        self.structure = Some(structure);
        self
    }

    pub fn to_json(&self, is_error: bool, takes_structure: bool) -> Value {
        let mut result = json!({ "content": [{ "type": "text", "text": self.text }] });
        if let (true, Some(structure)) = (takes_structure, &self.structure) {
            result["structuredContent"] = structure.clone();
        }
        if is_error {
            result["isError"] = json!(true);
        }
        result
    }
}
