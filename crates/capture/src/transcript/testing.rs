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

    /// The user rejects a tool call, perhaps with words.
    pub fn rejects(&mut self, id: &str, words: Option<&str>) -> &mut Self {
        let tail = words.map_or_else(
            || "STOP what you are doing and wait for the user to tell you how to proceed.".to_owned(),
            |words| format!("To tell you how to proceed, the user said:\n{words}"),
        );
        let told = format!(
            "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a \
             file edit, the new_string was NOT written to the file). {tail}"
        );
        self.write(serde_json::json!({
            "type": "user", "toolUseResult": "User rejected tool use", "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": told}]
        }}))
    }

    /// An operation on the queue of prompts.
    pub fn queue(&mut self, operation: &str, content: Option<&str>) -> &mut Self {
        let mut line = serde_json::json!({"type": "queue-operation", "operation": operation});
        if let Some(content) = content {
            line["content"] = content.into();
        }
        self.write(line)
    }

    /// The client's recap of the session.
    pub fn recaps(&mut self, text: &str) -> &mut Self {
        let content = format!("{text} (disable recaps in /config)");
        self.write(serde_json::json!({"type": "system", "subtype": "away_summary", "content": content}))
    }

    /// The summary of a compacted conversation.
    pub fn compacts(&mut self, summary: &str) -> &mut Self {
        let text = format!(
            "This session is being continued from a previous conversation that ran out of context.\n\
             Summary:\n{summary}\n\nIf you need specific details from before compaction, read on."
        );
        self.write(serde_json::json!({
            "type": "user", "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
            "message": {"role": "user", "content": text}
        }))
    }
}

/// The prompt by which a client reports that a subagent has ended.
pub fn task_notification(id: &str, result: &str) -> String {
    format!(
        "<task-notification>\n<task-id>{id}</task-id>\n<status>completed</status>\n\
         <summary>Agent completed</summary>\n<result>{result}</result>\n</task-notification>\n\
         Full transcript available at: /tmp/{id}.output"
    )
}
