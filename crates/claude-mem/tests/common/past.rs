//! Transcripts to import, and a comparable form of the imported rows.

use rig::Sandbox;
use serde_json::{Value, json};

use super::{NOW, sandbox};

/// A sandbox with the transcripts of this many sessions.
pub(crate) fn sandbox_with_transcripts(sessions: i64) -> Sandbox {
    let home = sandbox();
    let folder = home.home().join(".claude/projects/-work-shop");
    for session in 0..sessions {
        let path = folder.join(format!("s{session}.jsonl"));
        home.write(path, transcript(session));
    }
    home
}

/// All stored rows, in a form that does not depend on their order.
pub(crate) fn exported_rows(home: &Sandbox) -> Vec<String> {
    rows_in_export(&home.mem(&["export"]).ok().stdout)
}

/// The rows of an export, in the same form.
pub(crate) fn rows_in_export(export: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(export).expect("JSON");
    let mut lines = Vec::new();
    for (list, fields) in [
        ("prompts", &["text", "prompt_number", "created_at"][..]),
        ("messages", &["text", "prompt_number", "created_at"]),
        ("observations", &["title", "narrative", "facts", "prompt_number", "created_at"]),
        ("summaries", &["request", "completed", "prompt_number", "created_at"]),
    ] {
        for row in document[list].as_array().expect("a list") {
            let fields: Vec<_> = fields.iter().map(|field| row[*field].to_string()).collect();
            lines.push(format!("{list} {}", fields.join(" ")));
        }
    }
    lines.sort();
    lines
}

/// Ten turns of one session.
fn transcript(session: i64) -> String {
    let mut text = String::new();
    let mut line = |second: i64, more: Value| {
        let at = (NOW - 900_000_000_000) / 1_000 + session * 5_000 + second;
        let mut line = json!({"sessionId": format!("s{session}"), "cwd": "/work/shop", "version": "2.1.325",
            "gitBranch": "main", "timestamp": timestamp(at), "uuid": format!("{session}-{second}")});
        line.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        text.push_str(&line.to_string());
        text.push('\n');
    };
    for turn in 0..10 {
        let (at, id) = (turn * 100, format!("t{session}-{turn}"));
        let limit = turn * 7 + session;
        line(
            at,
            json!({"type": "user", "promptId": format!("p{turn}"), "message": {"role": "user",
            "content": format!("Turn {turn} of session {session}: set the limit to {limit}")}}),
        );
        line(
            at + 1,
            json!({"type": "assistant", "message": {"id": format!("m{turn}"), "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": id, "name": "Edit", "input": {"file_path": "/work/shop/src/limit.rs",
            "old_string": "limit = 1", "new_string": format!("limit = {limit}")}}]}}),
        );
        line(
            at + 2,
            json!({"type": "user", "message": {"role": "user", "content": [{"type": "tool_result",
            "tool_use_id": id, "content": "ok"}]}}),
        );
        line(
            at + 3,
            json!({"type": "assistant", "message": {"id": format!("e{turn}"), "stop_reason": "end_turn",
            "content": [{"type": "text", "text": format!("The limit is {limit} now.")}]}}),
        );
    }
    text
}

/// A timestamp; all months have 28 days, so that every result is a valid date.
pub(crate) fn timestamp(seconds: i64) -> String {
    let days = seconds / 86_400 % 3_360;
    let (year, month, day) = (2010 + days / 336, days / 28 % 12 + 1, days % 28 + 1);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.000Z")
}
