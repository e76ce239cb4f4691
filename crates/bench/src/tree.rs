//! A tree of made-up transcripts, the same every time.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use crate::corpus::Rng;

/// Program text that speaks of keys and tokens, as real tool output does.
const SOURCE: &str = include_str!("../../claude-mem/src/config/keys.rs");

/// Writes the tree. Returns its bytes and sessions.
pub(crate) fn plant(
    tree: &Path,
    megabytes: u64,
    session_kilobytes: u64,
) -> anyhow::Result<(u64, u64)> {
    let mut rng = Rng::new(7);
    let (mut bytes, mut sessions) = (0, 0);
    while bytes < megabytes * 1_000_000 {
        let project = format!("project-{}", rng.below(12));
        let folder = tree.join(format!("-work-{project}"));
        std::fs::create_dir_all(&folder)?;
        let id = format!("{:08x}-0000-4000-8000-{:012x}", sessions, sessions * 7919);
        let path = folder.join(format!("{id}.jsonl"));
        let target = session_kilobytes * 500 + rng.below(session_kilobytes as usize * 1_000) as u64;
        let mut out = Session {
            out: BufWriter::new(File::create(path)?),
            id,
            cwd: format!("/work/{project}"),
            second: sessions * 4_000,
            bytes: 0,
            lines: 0,
        };
        while out.bytes < target {
            out.turn(&mut rng)?;
        }
        out.out.flush()?;
        bytes += out.bytes;
        sessions += 1;
    }
    Ok((bytes, sessions))
}

/// One transcript in the shape that the newest client writes: about half of its bytes are lines
/// that tell nothing.
struct Session {
    out: BufWriter<File>,
    id: String,
    cwd: String,
    second: u64,
    bytes: u64,
    lines: u64,
}

impl Session {
    fn turn(&mut self, rng: &mut Rng) -> anyhow::Result<()> {
        let topic = WORK[rng.below(WORK.len())];
        let prompt = format!("p{}", self.lines);
        let text = format!(
            "Please {topic} in the {} module",
            MODULES[rng.below(MODULES.len())]
        );
        self.line(
            "user",
            &prompt,
            &json!({"message": {"role": "user", "content": text}}),
        )?;
        self.idle(rng)?;
        for _ in 0..2 + rng.below(8) {
            self.step(rng, &prompt)?;
        }
        let answer = format!("I have done it: {topic}. The tests pass, and nothing else changed.");
        let message = json!({"message": {"id": format!("m{}", self.lines), "stop_reason": "end_turn",
            "content": [{"type": "text", "text": answer}]}});
        self.line("assistant", &prompt, &message)
    }

    fn step(&mut self, rng: &mut Rng, prompt: &str) -> anyhow::Result<()> {
        let id = format!("toolu_{}", self.lines);
        let file = format!("{}/src/{}.rs", self.cwd, MODULES[rng.below(MODULES.len())]);
        let from = rng.below(SOURCE.len() - 5_000);
        let from = SOURCE.ceil_char_boundary(from);
        let length = 400 + rng.below(4_000);
        let piece = &SOURCE[from..SOURCE.ceil_char_boundary(from + length)];
        let (tool, input, output) = match rng.below(3) {
            0 => (
                "Bash",
                json!({"command": format!("cargo test {}", MODULES[rng.below(MODULES.len())])}),
                json!({"stdout": piece, "stderr": "", "interrupted": false}),
            ),
            1 => (
                "Read",
                json!({"file_path": file}),
                json!({"type": "text", "file": {"filePath": file, "content": piece}}),
            ),
            _ => (
                "Edit",
                json!({"file_path": file, "old_string": &piece[..piece.len().min(200)].trim_end_matches(|c: char| !c.is_ascii()),
                "new_string": "let total = cents + fee;"}),
                json!({"filePath": file, "originalFile": piece}),
            ),
        };
        self.line(
            "assistant",
            prompt,
            &json!({"message": {"id": format!("m{}", self.lines), "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": id, "name": tool, "input": input}]}}),
        )?;
        self.line(
            "user",
            prompt,
            &json!({"message": {"role": "user", "content": [{"type": "tool_result",
            "tool_use_id": id, "content": piece}]}, "toolUseResult": output}),
        )
    }

    /// What the client writes down for itself.
    fn idle(&mut self, rng: &mut Rng) -> anyhow::Result<()> {
        for _ in 0..=rng.below(3) {
            let from = SOURCE
                .char_indices()
                .nth(rng.below(2_000))
                .map_or(0, |(at, _)| at);
            let piece: String = SOURCE[from..].chars().take(6_000).collect();
            self.put(&json!({"type": "api-request", "sessionId": self.id, "body": piece, "number": self.lines}))?;
        }
        Ok(())
    }

    fn line(&mut self, kind: &str, prompt: &str, more: &Value) -> anyhow::Result<()> {
        self.second += 3;
        let at = stamp(self.second);
        let mut line = json!({"parentUuid": null, "isSidechain": false, "promptId": prompt, "type": kind,
            "uuid": format!("{}-{}", self.id, self.lines), "timestamp": at, "cwd": self.cwd, "sessionId": self.id,
            "version": "2.1.325", "gitBranch": "main"});
        if let (Some(line), Some(more)) = (line.as_object_mut(), more.as_object()) {
            line.extend(more.clone());
        }
        self.put(&line)
    }

    fn put(&mut self, line: &Value) -> anyhow::Result<()> {
        let text = line.to_string();
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(b"\n")?;
        self.bytes += text.len() as u64 + 1;
        self.lines += 1;
        Ok(())
    }
}

/// A time in a calendar whose months all have 28 days: every one of them is a date.
fn stamp(seconds: u64) -> String {
    let days = seconds / 86_400;
    let (year, month, day) = (2020 + days / 336, days / 28 % 12 + 1, days % 28 + 1);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.000Z")
}

const MODULES: [&str; 12] = [
    "cart", "login", "search", "parser", "cache", "queue", "router", "worker", "billing", "export",
    "session", "index",
];
const WORK: [&str; 8] = [
    "count money in cents, never in floats",
    "fix the test that fails since yesterday",
    "rename the retry limit and keep it at 7",
    "find out why the first request is slow",
    "add a timeout to every call",
    "move the settings into one file",
    "make the error say what to do",
    "remove the feature flag for good",
];
