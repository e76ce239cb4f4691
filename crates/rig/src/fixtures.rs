//! Recorded hook calls and transcripts of real clients, from `crates/claude-mem/tests/fixtures`.
//!
//! Recordings contain the paths `/home/user` and `/home/user/project`; [`Sandbox::replay`] and
//! [`Sandbox::place_transcript`] replace them by the sandbox's own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::process::{self, ProcessOutput};
use crate::sandbox::Sandbox;

const HOME: &str = "/home/user";
const PROJECT: &str = "/home/user/project";
const HOOK_SECONDS_MAX: u64 = 60;

/// The recorded clients.
pub const CLIENTS: [&str; 4] =
    ["claude-code-2.1.325", "claude-code-2.1.197", "claude-code-2.0.77", "claude-code-1.0.127"];

/// One hook call: its stdin, and the environment variables that the client added.
#[derive(Clone, Debug, Deserialize)]
pub struct HookCall {
    /// `claude-code-2.1.325/hooks/PostToolUse.Bash.json`
    #[serde(skip)]
    pub name: String,
    pub stdin: Value,
    pub env: BTreeMap<String, String>,
    pub cwd: String,
}

impl HookCall {
    pub fn event(&self) -> &str {
        self.stdin["hook_event_name"].as_str().unwrap_or_default()
    }

    /// The payload as it was on stdin.
    pub fn payload(&self) -> String {
        self.stdin.to_string()
    }
}

/// The recorded hook call of this name.
#[track_caller]
pub fn hook(name: &str) -> HookCall {
    let text = text(name);
    let mut call: HookCall =
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name} is not a hook call: {e}"));
    name.clone_into(&mut call.name);
    call
}

/// Every recorded hook call of one client, sorted by name.
pub fn hooks(client: &str) -> Vec<HookCall> {
    names(&format!("{client}/hooks")).iter().map(|name| hook(name)).collect()
}

/// The names of a client's transcripts.
pub fn transcripts(client: &str) -> Vec<String> {
    let mut names = names(&format!("{client}/transcripts"));
    names.retain(|name| path(name).is_file());
    names
}

/// The text of a recording.
#[track_caller]
pub fn text(name: &str) -> String {
    let path = path(name);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("cannot read {}: {e}", path.display()))
}

/// The path of a recording.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../claude-mem/tests/fixtures").join(name)
}

fn names(dir: &str) -> Vec<String> {
    let entries = fs::read_dir(path(dir)).unwrap_or_else(|e| panic!("no recordings in {dir}: {e}"));
    let name = |entry: fs::DirEntry| format!("{dir}/{}", entry.file_name().to_string_lossy());
    let mut names: Vec<_> = entries.flatten().map(name).collect();
    names.sort();
    names
}

impl Sandbox {
    /// Replaces the paths of a recording by those of this sandbox.
    pub fn localize_paths(&self, recorded: &str) -> String {
        recorded
            .replace(PROJECT, &self.project().to_string_lossy())
            .replace(HOME, &self.home().to_string_lossy())
    }

    /// Runs the hook of the executable under test with a recorded call and its environment.
    pub fn replay(&self, call: &HookCall) -> ProcessOutput {
        let mut command = self.mem_command(&["hook", "claude-code", call.event()]);
        for (name, value) in &call.env {
            command.env(name, self.localize_paths(value));
        }
        let cwd = PathBuf::from(self.localize_paths(&call.cwd));
        fs::create_dir_all(&cwd).unwrap_or_else(|e| panic!("cannot make {}: {e}", cwd.display()));
        let payload = self.localize_paths(&call.payload());
        let limit = Duration::from_secs(HOOK_SECONDS_MAX);
        process::run(with_dir(command, &cwd), payload.as_bytes(), limit)
    }

    /// Writes a recorded transcript, and those of its subagents, where the client would, and returns
    /// its path.
    pub fn place_transcript(&self, name: &str) -> PathBuf {
        let recorded = text(name);
        let session = session_of(&recorded);
        let dir = self.home().join(".claude/projects/-home-user-project");
        let laid = self.write(dir.join(format!("{session}.jsonl")), self.localize_paths(&recorded));
        let stem = name.trim_end_matches(".jsonl");
        // New clients store subagents in the session's folder, old ones next to the transcript.
        for (from, to) in [
            (format!("{stem}/subagents"), dir.join(&session).join("subagents")),
            (format!("{stem}.beside"), dir),
        ] {
            for file in names_if_any(&from) {
                let target = to.join(Path::new(&file).file_name().unwrap_or_default());
                self.write(target, self.localize_paths(&text(&file)));
            }
        }
        laid
    }
}

fn with_dir(mut command: std::process::Command, dir: &Path) -> std::process::Command {
    command.current_dir(dir);
    command
}

fn names_if_any(dir: &str) -> Vec<String> {
    if path(dir).is_dir() { names(dir) } else { Vec::new() }
}

/// The session id of the first line that has one.
fn session_of(transcript: &str) -> String {
    let lines = transcript.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut ids = lines.filter_map(|line| line["sessionId"].as_str().map(str::to_owned));
    ids.next().unwrap_or_else(|| panic!("a transcript names its session"))
}
