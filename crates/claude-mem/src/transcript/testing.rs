//! Transcripts for tests.

use std::io::Write as _;
use std::path::PathBuf;

/// A session as a client writes it, line by line.
pub(crate) struct Script {
    dir: tempfile::TempDir,
    lines: u32,
}

impl Script {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            lines: 0,
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("s.jsonl")
    }

    pub(crate) fn write(&mut self, mut line: serde_json::Value) -> &mut Self {
        self.lines += 1;
        line["timestamp"] = format!("2026-01-31T10:00:{:02}.000Z", self.lines).into();
        line["sessionId"] = "s".into();
        line["uuid"] = format!("u{}", self.lines).into();
        line["version"] = "2.1.325".into();
        let mut file = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.path())
            .unwrap();
        writeln!(file, "{line}").unwrap();
        self
    }

    pub(crate) fn user(&mut self, text: &str) -> &mut Self {
        let id = format!("p{}", self.lines);
        self.write(serde_json::json!({
            "type": "user", "promptId": id, "message": {"role": "user", "content": text}
        }))
    }

    pub(crate) fn calls(&mut self, id: &str, tool: &str, input: serde_json::Value) -> &mut Self {
        self.write(serde_json::json!({"type": "assistant", "message": {
            "id": format!("m{id}"), "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": id, "name": tool, "input": input}]
        }}))
    }

    pub(crate) fn result(&mut self, id: &str, output: &str) -> &mut Self {
        self.write(
            serde_json::json!({"type": "user", "message": {"role": "user",
                "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]
            }}),
        )
    }

    pub(crate) fn says(&mut self, text: &str, stop_reason: Option<&str>) -> &mut Self {
        let id = format!("m{}", self.lines);
        self.write(serde_json::json!({"type": "assistant", "message": {
            "id": id, "stop_reason": stop_reason, "content": [{"type": "text", "text": text}]
        }}))
    }
}
