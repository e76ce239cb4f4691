//! Fixtures for hook tests, and accessors for the captured events.

use std::path::PathBuf;

use claude_mem_capture::enqueue;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::{Event, EventBody};
use claude_mem_core::paths::DataDir;
use claude_mem_core::queue::LeaseId;
use claude_mem_store::Store;
use rig::Sandbox;
use serde_json::Value;

use super::sandbox;

/// The answer of a hook that has nothing to add.
pub(crate) const NEUTRAL: &str = r#"{"continue":true,"suppressOutput":true}"#;

/// A sandbox with the real clock.
pub(crate) fn sandbox_with_real_clock() -> Sandbox {
    let mut home = sandbox();
    home.unset_env("CLAUDE_MEM_NOW");
    home
}

pub(crate) fn data(home: &Sandbox) -> DataDir {
    DataDir::new(home.data_dir())
}

/// Ingests the spool, then reads the whole queue, session by session, in order.
pub(crate) fn captured_events(home: &Sandbox) -> Vec<Event> {
    let dir = data(home);
    if dir.spool().exists() {
        let mut store = Store::open(&dir.db()).expect("a database that opens");
        enqueue::drain_spool(&dir, &mut store, Millis(1)).expect("the spool is taken in");
    }
    queued_events(home)
}

/// Reads the queue without ingesting the spool.
pub(crate) fn queued_events(home: &Sandbox) -> Vec<Event> {
    let dir = data(home);
    if !dir.db().exists() {
        return Vec::new();
    }
    let mut store = Store::open(&dir.db()).expect("a database that opens");
    let sessions = store.read().sessions_with_work().expect("its sessions");
    let mut events = Vec::new();
    for ready in sessions {
        let lease = store.write(|w| {
            let max = usize::try_from(ready.events).unwrap_or(usize::MAX);
            let lease = w.lease_session(&ready.client, &ready.session, max, LeaseId(1), LATE)?;
            w.release(LeaseId(1))?;
            Ok(lease)
        });
        let lease = lease.expect("a lease").expect("events");
        events.extend(lease.events.into_iter().map(|leased| leased.event));
    }
    events
}

const LATE: Millis = Millis(4_000_000_000_000);

/// All files that the program has written, including database and logs.
pub(crate) fn bytes_on_disk(home: &Sandbox) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![home.data_dir()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.is_file() {
                // A file that a worker replaces or removes meanwhile is not there any more.
                match std::fs::read(&path) {
                    Ok(bytes) => found.push((path, bytes)),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                    Err(error) => panic!("{}: {error}", path.display()),
                }
            }
        }
    }
    found
}

/// The files that contain a text.
pub(crate) fn files_containing(home: &Sandbox, needle: &str) -> Vec<String> {
    let holds = |bytes: &[u8]| memchr::memmem::find(bytes, needle.as_bytes()).is_some();
    let files = bytes_on_disk(home).into_iter();
    let in_content =
        |(path, bytes): &(PathBuf, Vec<u8>)| holds(bytes) || holds(path.as_os_str().as_encoded_bytes());
    files.filter(in_content).map(|(path, _)| home.tidy(&path.to_string_lossy())).collect()
}

/// The hook log.
pub(crate) fn log(home: &Sandbox) -> String {
    let files = std::fs::read_dir(home.data_dir().join("logs"));
    let mut files: Vec<_> = files.into_iter().flatten().flatten().map(|file| file.path()).collect();
    files.sort();
    let text = |path| std::fs::read_to_string(path).expect("a log is readable");
    files.into_iter().map(text).collect()
}

/// An event in one line, for snapshots.
pub(crate) fn event_line(event: &Event) -> String {
    let cut = if event.cut { " (cut)" } else { "" };
    let agent = event.agent_id.as_ref().map_or("", |_| " (subagent)");
    let what = match &event.body {
        EventBody::SessionStart { source } => source.clone(),
        EventBody::Prompt { private: true, .. } => "(private)".to_owned(),
        EventBody::Prompt { text, .. } => text.clone(),
        EventBody::Text { source, text, .. } => format!("{}: {text}", source.traits().name),
        EventBody::ToolUse { tool, failed, .. } => {
            format!("{tool}{}", if *failed { ", failed" } else { "" })
        }
        EventBody::Stop { last_message } | EventBody::SubagentStop { last_message } => {
            last_message.clone().unwrap_or_else(|| "-".to_owned())
        }
        EventBody::PreCompact { trigger } => trigger.clone(),
        EventBody::PostCompact { summary } => summary.clone(),
        EventBody::SessionEnd { reason } => reason.clone(),
    };
    format!("{}: {what}{agent}{cut}", event.body.kind_name())
}

pub(crate) fn event_lines(events: &[Event]) -> String {
    events.iter().map(event_line).collect::<Vec<_>>().join("\n")
}

/// A payload of session `s`, with its fields in the order in which clients send them.
pub(crate) fn payload(event: &str, more: &Value) -> String {
    let more = more.to_string();
    let more = more.trim_start_matches('{');
    let comma = if more == "}" { "" } else { "," };
    format!(r#"{{"session_id":"s","cwd":"/","hook_event_name":"{event}"{comma}{more}"#)
}
