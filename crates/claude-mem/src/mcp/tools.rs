//! The output of a tool call.

use serde_json::{Value, json};

/// Text for the model, and the same as structured content for clients that do not hide the text
/// then.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolOutput {
    text: String,
    structure: Option<Value>,
}

impl ToolOutput {
    /// Output of text only.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), structure: None }
    }

    /// Adds structured content, a JSON object.
    #[must_use]
    pub(crate) fn with_structure(mut self, structure: Value) -> Self {
        self.structure = Some(structure);
        self
    }

    /// The result of `tools/call`.
    pub(crate) fn to_json(&self, is_error: bool, takes_structure: bool) -> Value {
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
