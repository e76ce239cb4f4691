//! The events of a day as hooks would capture them: the golden sessions of the distiller, mixed with
//! the reads and listings that make up most of a real day.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use claude_mem_core::clock::Micros;
use claude_mem_core::event::{Event, EventBody, ProjectHint};
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::source::TextSource;
use serde_json::{Value, json};

const ROOT: &str = "/home/user/shop";
/// 2026-01-31 08:00:00 UTC.
const MORNING_SECONDS: i64 = 1_769_846_400;
/// Routine tool calls per turn that leave no memory, as in a real day.
const ROUTINE_PER_TURN: usize = 7;
/// Output size of a routine read or listing.
const OUTPUT_BYTES: usize = 4 << 10;
const SOURCE: &str = include_str!("../../../core/src/limits.rs");

/// The events of this many rounds through the golden sessions, in chronological order. Each round is
/// a separate project, so that its decisions do not supersede those of another.
pub(super) fn events(rounds: usize) -> anyhow::Result<Vec<Event>> {
    let sessions = golden_sessions()?;
    let mut events = Vec::new();
    for round in 0..rounds {
        for path in &sessions {
            let text = std::fs::read_to_string(path)?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let mut day = SessionEvents::new(round, &name, events.len());
            day.read(&text);
            events.append(&mut day.events);
        }
    }
    Ok(events)
}

/// The golden sessions of the distiller's tests.
fn golden_sessions() -> anyhow::Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../distil/src/golden");
    let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "session"));
    paths.sort();
    Ok(paths)
}

/// Converts the text of one session into events.
struct SessionEvents {
    round: usize,
    session: String,
    seconds: i64,
    turn: usize,
    events: Vec<Event>,
}

impl SessionEvents {
    fn new(round: usize, name: &str, before: usize) -> Self {
        Self {
            round,
            session: format!("{name}-{round}"),
            seconds: MORNING_SECONDS + before as i64,
            turn: 0,
            events: Vec::new(),
        }
    }

    fn read(&mut self, text: &str) {
        let mut blocks: Vec<(&str, String)> = Vec::new();
        for line in text.lines() {
            match (line.strip_prefix("==="), blocks.last_mut()) {
                (Some(head), _) => blocks.push((head.trim(), String::new())),
                (None, Some((_, body))) => {
                    body.push_str(line);
                    body.push('\n');
                }
                (None, None) => {}
            }
        }
        let mut blocks = blocks.into_iter();
        while let Some((head, body)) = blocks.next() {
            let (word, argument) = head.split_once(' ').unwrap_or((head, ""));
            let body = body.trim_end();
            match word {
                "edit" => {
                    let new = blocks.next().unwrap_or_default().1;
                    self.edit(argument, body, new.trim_end());
                }
                "bash" => {
                    let (outcome, output) = blocks.next().unwrap_or_default();
                    self.bash(body, output.trim_end(), outcome == "failed");
                }
                _ => self.block(word, argument, body),
            }
        }
    }

    fn block(&mut self, word: &str, argument: &str, body: &str) {
        let path = format!("{ROOT}/{argument}");
        match word {
            "user" => {
                self.turn += 1;
                self.push_event(EventBody::Prompt {
                    text: body.to_owned(),
                    private: false,
                    source: TextSource::Prompt,
                });
                (0..ROUTINE_PER_TURN).for_each(|at| self.push_routine_call(at));
            }
            "agent" => self.push_event(EventBody::Stop { last_message: Some(body.to_owned()) }),
            "compact" => self.push_event(EventBody::PostCompact { summary: body.to_owned() }),
            "read" => self.tool("Read", json!({ "file_path": path }), json!({}), false),
            "fetch" => {
                let output = json!({ "result": body });
                self.tool("WebFetch", json!({ "url": argument }), output, false);
            }
            "write" => {
                let input = json!({ "file_path": path, "content": body });
                let output = json!({"type": "create", "filePath": path, "structuredPatch": []});
                self.tool("Write", input, output, false);
            }
            // The earlier content of a file, and calls that hooks skip.
            _ => {}
        }
    }

    fn edit(&mut self, path: &str, old: &str, new: &str) {
        let path = format!("{ROOT}/{path}");
        let input = json!({"file_path": path, "old_string": old, "new_string": new});
        let output = json!({"oldString": old, "newString": new});
        self.tool("Edit", input, output, false);
    }

    fn bash(&mut self, command: &str, output: &str, failed: bool) {
        let output = if failed {
            Value::String(output.to_owned())
        } else {
            json!({"stdout": output, "stderr": "", "interrupted": false})
        };
        self.tool("Bash", json!({ "command": command }), output, failed);
    }

    /// Adds a routine read or listing, which leaves no memory.
    fn push_routine_call(&mut self, at: usize) {
        let shown = &SOURCE[..OUTPUT_BYTES.min(SOURCE.len())];
        if at % 3 == 2 {
            let output = json!({"stdout": shown, "stderr": "", "interrupted": false});
            self.tool("Bash", json!({"command": "ls -la src && cat Makefile"}), output, false);
        } else {
            let path = format!("{ROOT}/src/module_{at}.rs");
            let file = json!({"type": "text", "file": {"filePath": path, "content": shown}});
            self.tool("Read", json!({ "file_path": path }), file, false);
        }
    }

    fn tool(&mut self, tool: &str, input: Value, output: Value, failed: bool) {
        let id = format!("toolu_{}_{}", self.session, self.events.len());
        self.push_event(EventBody::ToolUse {
            tool: tool.to_owned(),
            tool_use_id: Some(id),
            input,
            output,
            failed,
            duration_ms: None,
        });
    }

    fn push_event(&mut self, body: EventBody) {
        self.seconds += 1;
        self.events.push(Event {
            project: Some(ProjectHint {
                name: "shop".into(),
                keys: vec![format!("path:{ROOT}-{}", self.round)],
                root: ROOT.into(),
                branch: Some("main".into()),
            }),
            prompt_id: Some(format!("{}-{}", self.session, self.turn)),
            ..Event::new(
                "claude-code",
                ClientSessionId(self.session.clone()),
                Micros(self.seconds * 1_000_000),
                body,
            )
        });
    }
}
