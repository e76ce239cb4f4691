//! Builds records of the shape that Claude Code writes to its transcripts, for the translation of others.

use serde_json::{Map, Value, json};

use crate::event_key;

/// The id of a call whose client gives hooks none: from its tool, its input as JSON, and a digest of its output.
pub fn derived_call_id(tool: &str, input: &str, result_digest: &str) -> String {
    let parts = [tool.as_bytes(), input.as_bytes(), result_digest.as_bytes()];
    format!("derived-{}", event_key::hex(&event_key::digest(&parts)))
}

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

    /// A text of the agent, of which the client says whether it ends the turn.
    pub(super) fn assistant_message(&self, text: &str, is_final: bool) -> Value {
        let mut record = self.assistant_text(text);
        record["message"]["stop_reason"] = if is_final { "end_turn" } else { "tool_use" }.into();
        record
    }

    pub(super) fn tool_call(&self, id: &str, tool: &str, input: &Value) -> Value {
        self.message("assistant", json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]))
    }

    pub(super) fn tool_result(&self, id: &str, content: &Value, failed: bool) -> Value {
        let block =
            json!({ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed });
        self.message("user", json!([block]))
    }

    /// A result whose call has no id in hooks: the reader derives one from the call and `digest`, which stands for
    /// the output as the client wrote it ([`derived_call_id`]).
    pub(super) fn tool_result_with_digest(
        &self,
        id: &str,
        content: &Value,
        failed: bool,
        digest: &str,
    ) -> Value {
        let mut record = self.tool_result(id, content, failed);
        record["message"]["content"][0]["result_digest"] = digest.into();
        record
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
