//! Recording hooks: they write down the payload of the client and return a marker as context.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Sandbox;

/// Timeout for a hook of the client to fire.
const HOOK_SECONDS_MAX: u64 = 60;
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Events for which every client accepts `additionalContext`.
const WITH_CONTEXT: [&str; 3] = ["SessionStart", "UserPromptSubmit", "PostToolUse"];

/// A hook call of the client, with its payload.
#[derive(Clone, Debug)]
pub struct FiredHook {
    pub event: String,
    pub payload: Value,
    /// The client's own variables in the hook's environment.
    pub env: Vec<(String, String)>,
}

impl Sandbox {
    /// Installs a recording hook for each event. Hooks that may add context return
    /// `MEMORY-FROM-<Event>`.
    pub fn watch_hooks(&self, events: &[&str]) {
        let dir = self.watched_dir();
        fs::create_dir_all(&dir).expect("a directory for recorded hook calls");
        self.write_hooks(events, |event| {
            // A payload gets its final name when it is complete; the name preserves the order.
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

    /// The recorded hook calls, in the order in which they started.
    pub fn fired_hooks(&self) -> Vec<FiredHook> {
        let mut files: Vec<PathBuf> = fs::read_dir(self.watched_dir())
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        files.retain(|file| file.extension().is_some_and(|kind| kind == "json"));
        files.sort();
        files.iter().map(|file| self.parse_fired_hook(file)).collect()
    }

    /// Waits until the hooks of this event were called this often; panics on timeout.
    #[track_caller]
    pub fn wait_for_fired_hooks(&self, event: &str, times: usize) {
        let deadline = Instant::now() + Duration::from_secs(HOOK_SECONDS_MAX);
        loop {
            let fired = self.fired_hooks();
            if fired.iter().filter(|hook| hook.event == event).count() >= times {
                return;
            }
            assert!(Instant::now() < deadline, "{event} was not called {times} times: {fired:?}");
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn parse_fired_hook(&self, file: &PathBuf) -> FiredHook {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let env = self.read(file.with_extension("env"));
        let pairs = env.lines().filter_map(|line| line.split_once('='));
        let clients = |(name, _): &(&str, &str)| name.starts_with("CLAUDE") || *name == "AI_AGENT";
        FiredHook {
            event: name.rsplit('-').next().unwrap_or_default().to_owned(),
            payload: serde_json::from_str(&self.read(file)).unwrap_or(Value::Null),
            env: pairs.filter(clients).map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
        }
    }

    fn watched_dir(&self) -> PathBuf {
        self.home.join("watched")
    }
}
