//! Generates a deterministic tree of synthetic transcripts.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use crate::corpus::SplitMix64;

/// Source code that mentions keys and tokens, as real tool output does.
const SOURCE: &str = include_str!("../../core/src/config/keys.rs");

/// Writes the tree and returns its size in bytes and its number of sessions.
pub(crate) fn write_tree(tree: &Path, megabytes: u64, session_kilobytes: u64) -> anyhow::Result<(u64, u64)> {
    let mut rng = SplitMix64::new(7);
    let (mut bytes, mut sessions) = (0, 0);
    while bytes < megabytes * 1_000_000 {
        let project = format!("project-{}", rng.below(12));
        let folder = tree.join(format!("-work-{project}"));
        std::fs::create_dir_all(&folder)?;
        let id = format!("{:08x}-0000-4000-8000-{:012x}", sessions, sessions * 7919);
        let path = folder.join(format!("{id}.jsonl"));
        let target = session_kilobytes * 500 + rng.below(session_kilobytes as usize * 1_000) as u64;
        let mut out = SyntheticTranscript {
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

/// One transcript in the format of the newest client: about half of its bytes are lines without
/// events.
struct SyntheticTranscript {
    out: BufWriter<File>,
    id: String,
    cwd: String,
    second: u64,
    bytes: u64,
    lines: u64,
}

impl SyntheticTranscript {
    fn turn(&mut self, rng: &mut SplitMix64) -> anyhow::Result<()> {
        let topic = WORK[rng.below(WORK.len())];
        let prompt = format!("p{}", self.lines);
        let text = format!("Please {topic} in the {} module", MODULES[rng.below(MODULES.len())]);
        self.write_record("user", &prompt, &json!({"message": {"role": "user", "content": text}}))?;
        self.write_noise(rng)?;
        for _ in 0..2 + rng.below(8) {
            self.step(rng, &prompt)?;
        }
        let answer = format!("I have done it: {topic}. The tests pass, and nothing else changed.");
        let message = json!({"message": {"id": format!("m{}", self.lines), "stop_reason": "end_turn",
            "content": [{"type": "text", "text": answer}]}});
        self.write_record("assistant", &prompt, &message)
    }

    fn step(&mut self, rng: &mut SplitMix64, prompt: &str) -> anyhow::Result<()> {
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
        self.write_record(
            "assistant",
            prompt,
            &json!({"message": {"id": format!("m{}", self.lines), "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": id, "name": tool, "input": input}]}}),
        )?;
        self.write_record(
            "user",
            prompt,
            &json!({"message": {"role": "user", "content": [{"type": "tool_result",
            "tool_use_id": id, "content": piece}]}, "toolUseResult": output}),
        )
    }

    /// Writes lines that the client records for itself and that contain no events.
    fn write_noise(&mut self, rng: &mut SplitMix64) -> anyhow::Result<()> {
        for _ in 0..=rng.below(3) {
            let from = SOURCE.char_indices().nth(rng.below(2_000)).map_or(0, |(at, _)| at);
            let piece: String = SOURCE[from..].chars().take(6_000).collect();
            self.write_line(
                &json!({"type": "api-request", "sessionId": self.id, "body": piece, "number": self.lines}),
            )?;
        }
        Ok(())
    }

    fn write_record(&mut self, kind: &str, prompt: &str, more: &Value) -> anyhow::Result<()> {
        self.second += 3;
        let at = timestamp(self.second);
        let mut line = json!({"parentUuid": null, "isSidechain": false, "promptId": prompt, "type": kind,
            "uuid": format!("{}-{}", self.id, self.lines), "timestamp": at, "cwd": self.cwd, "sessionId": self.id,
            "version": "2.1.325", "gitBranch": "main"});
        if let (Some(line), Some(more)) = (line.as_object_mut(), more.as_object()) {
            line.extend(more.clone());
        }
        self.write_line(&line)
    }

    fn write_line(&mut self, line: &Value) -> anyhow::Result<()> {
        let text = line.to_string();
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(b"\n")?;
        self.bytes += text.len() as u64 + 1;
        self.lines += 1;
        Ok(())
    }
}

/// A timestamp; all months have 28 days, so that every result is a valid date.
fn timestamp(seconds: u64) -> String {
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
