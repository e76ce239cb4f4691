//! What the tests of hooks start from, and a look at what the hooks have kept.

use std::path::PathBuf;

use claude_mem::clock::Millis;
use claude_mem::hook::deliver;
use claude_mem::hook::event::{Body, Event};
use claude_mem::paths::DataDir;
use claude_mem::queue::LeaseId;
use claude_mem::store::Store;
use rig::Sandbox;
use serde_json::Value;

use super::sandbox;

/// What a hook says that has nothing to add.
pub(crate) const NEUTRAL: &str = r#"{"continue":true,"suppressOutput":true}"#;

/// The same with a clock that runs.
pub(crate) fn home_in_time() -> Sandbox {
    let mut home = sandbox();
    home.unset_env("CLAUDE_MEM_NOW");
    home
}

pub(crate) fn data(home: &Sandbox) -> DataDir {
    DataDir::new(home.data_dir())
}

/// Takes in what waits in the spool, then reads the whole queue, session by session, in order.
pub(crate) fn kept(home: &Sandbox) -> Vec<Event> {
    let dir = data(home);
    if dir.spool().exists() {
        let mut store = Store::open(&dir.db()).expect("a database that opens");
        deliver::take_in(&dir, &mut store, Millis(1)).expect("the spool is taken in");
    }
    in_queue(home)
}

/// Reads the queue as it is.
pub(crate) fn in_queue(home: &Sandbox) -> Vec<Event> {
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

/// Every byte that the program has written, database, logs and all.
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
            } else {
                let bytes = std::fs::read(&path).expect("a file of ours is readable");
                found.push((path, bytes));
            }
        }
    }
    found
}

/// Where on the disk a text stands.
pub(crate) fn places_of(home: &Sandbox, needle: &str) -> Vec<String> {
    let needle = needle.as_bytes();
    let holds = |bytes: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    let files = bytes_on_disk(home).into_iter();
    let in_content = |(path, bytes): &(PathBuf, Vec<u8>)| {
        holds(bytes) || holds(path.as_os_str().as_encoded_bytes())
    };
    files
        .filter(in_content)
        .map(|(path, _)| home.tidy(&path.to_string_lossy()))
        .collect()
}

/// The log of hooks.
pub(crate) fn log(home: &Sandbox) -> String {
    let files = std::fs::read_dir(home.data_dir().join("logs"));
    let mut files: Vec<_> = files
        .into_iter()
        .flatten()
        .flatten()
        .map(|file| file.path())
        .collect();
    files.sort();
    let text = |path| std::fs::read_to_string(path).expect("a log is readable");
    files.into_iter().map(text).collect()
}

/// An event in one line, for snapshots.
pub(crate) fn line(event: &Event) -> String {
    let cut = if event.cut { " (cut)" } else { "" };
    let agent = event.agent_id.as_ref().map_or("", |_| " (subagent)");
    let what = match &event.body {
        Body::SessionStart { source } => source.clone(),
        Body::Prompt { private: true, .. } => "(private)".to_owned(),
        Body::Prompt { text, .. } => text.clone(),
        Body::ToolUse { tool, failed, .. } => {
            format!("{tool}{}", if *failed { ", failed" } else { "" })
        }
        Body::Stop { last_message } | Body::SubagentStop { last_message } => {
            last_message.clone().unwrap_or_else(|| "-".to_owned())
        }
        Body::PreCompact { trigger } => trigger.clone(),
        Body::PostCompact { summary } => summary.clone(),
        Body::SessionEnd { reason } => reason.clone(),
    };
    format!("{}: {what}{agent}{cut}", event.body.name())
}

pub(crate) fn lines(events: &[Event]) -> String {
    events.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A payload of session `s`, its fields in the order in which clients send them.
pub(crate) fn payload(event: &str, more: &Value) -> String {
    let more = more.to_string();
    let more = more.trim_start_matches('{');
    let comma = if more == "}" { "" } else { "," };
    format!(r#"{{"session_id":"s","cwd":"/","hook_event_name":"{event}"{comma}{more}"#)
}
