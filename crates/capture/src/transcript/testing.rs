//! Builder of transcripts for tests.

#![allow(clippy::unwrap_used, reason = "a fixture that fails is a test that fails")]

use std::io::Write as _;
use std::path::PathBuf;

/// Writes a session line by line, like a client.
#[derive(Debug)]
pub struct TranscriptScript {
    dir: tempfile::TempDir,
    lines: u32,
}

impl Default for TranscriptScript {
    fn default() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), lines: 0 }
    }
}

impl TranscriptScript {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().join("s.jsonl")
    }

    pub fn write(&mut self, mut line: serde_json::Value) -> &mut Self {
        self.lines += 1;
        line["timestamp"] = format!("2026-01-31T10:00:{:02}.000Z", self.lines).into();
        line["sessionId"] = "s".into();
        line["uuid"] = format!("u{}", self.lines).into();
        line["version"] = "2.1.325".into();
        let mut file = std::fs::File::options().create(true).append(true).open(self.path()).unwrap();
        writeln!(file, "{line}").unwrap();
        self
    }

    pub fn user(&mut self, text: &str) -> &mut Self {
        let id = format!("p{}", self.lines);
        self.write(serde_json::json!({
            "type": "user", "promptId": id, "message": {"role": "user", "content": text}
        }))
    }

    pub fn calls(&mut self, id: &str, tool: &str, input: serde_json::Value) -> &mut Self {
        self.write(serde_json::json!({"type": "assistant", "message": {
            "id": format!("m{id}"), "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": id, "name": tool, "input": input}]
        }}))
    }

    pub fn result(&mut self, id: &str, output: &str) -> &mut Self {
        self.write(serde_json::json!({"type": "user", "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]
        }}))
    }

    pub fn says(&mut self, text: &str, stop_reason: Option<&str>) -> &mut Self {
        let id = format!("m{}", self.lines);
        self.write(serde_json::json!({"type": "assistant", "message": {
            "id": id, "stop_reason": stop_reason, "content": [{"type": "text", "text": text}]
        }}))
    }
}
