//! Builds records of the shape that Claude Code writes to its transcripts, for the translation of others.

use serde_json::{Map, Value, json};

/// A record under construction, with the time of the line that it comes from.
#[derive(Clone, Debug)]
pub(super) struct RecordBuilder {
    timestamp: Value,
    prompt_id: Option<String>,
}

impl RecordBuilder {
    pub(super) fn new(timestamp: &Value, prompt_id: Option<&str>) -> Self {
        Self { timestamp: timestamp.clone(), prompt_id: prompt_id.map(str::to_owned) }
    }

    /// The session and where it works: the header of a transcript.
    pub(super) fn header(&self, session: &Value, more: [(&str, &Value); 3]) -> Value {
        let mut record = self.record("system");
        record.insert("sessionId".to_owned(), session.clone());
        for (name, value) in more {
            if !value.is_null() {
                record.insert(name.to_owned(), value.clone());
            }
        }
        Value::Object(record)
    }

    pub(super) fn prompt(&self, text: &str) -> Value {
        self.message("user", json!(text))
    }

    pub(super) fn compact_summary(&self, text: &str) -> Value {
        let mut record = self.message("user", json!(text));
        record["isCompactSummary"] = true.into();
        record
    }

    pub(super) fn assistant_text(&self, text: &str) -> Value {
        self.message("assistant", json!([{ "type": "text", "text": text }]))
    }

    pub(super) fn tool_call(&self, id: &str, tool: &str, input: &Value) -> Value {
        self.message("assistant", json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]))
    }

    pub(super) fn tool_result(&self, id: &str, content: &Value, failed: bool) -> Value {
        let block =
            json!({ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed });
        self.message("user", json!([block]))
    }

    fn message(&self, role: &str, content: Value) -> Value {
        let mut record = self.record(role);
        record.insert("message".to_owned(), json!({ "role": role, "content": content }));
        Value::Object(record)
    }

    fn record(&self, kind: &str) -> Map<String, Value> {
        let mut record = Map::new();
        record.insert("type".to_owned(), kind.into());
        record.insert("timestamp".to_owned(), self.timestamp.clone());
        if let Some(id) = &self.prompt_id {
            record.insert("promptId".to_owned(), id.as_str().into());
        }
        record
    }
}
