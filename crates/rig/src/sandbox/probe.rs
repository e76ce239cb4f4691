//! Hooks that only watch: they note what the client gave them and hand it a word in return.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::Sandbox;

/// Events whose `additionalContext` every client takes.
const WITH_CONTEXT: [&str; 3] = ["SessionStart", "UserPromptSubmit", "PostToolUse"];

/// A hook that fired, and the payload it got.
#[derive(Clone, Debug)]
pub struct Fired {
    pub event: String,
    pub payload: Value,
    /// The client's own variables among the hook's environment.
    pub env: Vec<(String, String)>,
}

impl Sandbox {
    /// Installs a watching hook for each event. Those that may add context say
    /// `MEMORY-FROM-<Event>`.
    pub fn watch_hooks(&self, events: &[&str]) {
        let dir = self.watched_dir();
        fs::create_dir_all(&dir).expect("a directory for what hooks saw");
        self.hooks(events, |event| {
            // A payload gets its final name when it is whole; the name keeps the order.
            let note = format!(
                r#"f="{}/$(date +%s%N)-$$-{event}"; env > "$f.env"; cat > "$f.part"; mv "$f.part" "$f.json""#,
                dir.display()
            );
            if WITH_CONTEXT.contains(&event) {
                let output = json!({"hookSpecificOutput": {
                    "hookEventName": event, "additionalContext": format!("MEMORY-FROM-{event}"),
                }});
                format!("{note}; echo '{output}'")
            } else {
                note
            }
        });
    }

    /// What the watching hooks saw, in the order they began.
    pub fn fired(&self) -> Vec<Fired> {
        let mut files: Vec<PathBuf> = fs::read_dir(self.watched_dir())
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        files.retain(|file| file.extension().is_some_and(|kind| kind == "json"));
        files.sort();
        files.iter().map(|file| self.fired_from(file)).collect()
    }

    fn fired_from(&self, file: &PathBuf) -> Fired {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let env = self.read(file.with_extension("env"));
        let pairs = env.lines().filter_map(|line| line.split_once('='));
        let clients = |(name, _): &(&str, &str)| name.starts_with("CLAUDE") || *name == "AI_AGENT";
        Fired {
            event: name.rsplit('-').next().unwrap_or_default().to_owned(),
            payload: serde_json::from_str(&self.read(file)).unwrap_or(Value::Null),
            env: pairs
                .filter(clients)
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .collect(),
        }
    }

    fn watched_dir(&self) -> PathBuf {
        self.home.join("watched")
    }
}
