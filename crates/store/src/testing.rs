//! Fixtures for tests: events, observations and temporary data directories.

#![allow(clippy::unwrap_used, reason = "fixtures fail their test")]

use serde_json::json;

use crate::Store;
use claude_mem_core::clock::{Micros, Millis};
use claude_mem_core::event::{Event, EventBody, ProjectHint};
use claude_mem_core::event_key;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::log::{LogAuthor, LogRetention, LogWriter};
use claude_mem_core::memory::{NewObservation, ObservationType, Origin};
use claude_mem_core::paths::DataDir;
use claude_mem_core::source::TextSource;

/// A temporary data directory, deleted on drop.
#[derive(Debug)]
pub struct WorkerScratch {
    pub dir: DataDir,
    _temporary: tempfile::TempDir,
}

pub fn scratch() -> WorkerScratch {
    let temporary = tempfile::tempdir().unwrap();
    WorkerScratch { dir: DataDir::new(temporary.path()), _temporary: temporary }
}

/// The worker's log in a scratch directory.
pub fn log(scratch: &WorkerScratch) -> LogWriter {
    let keep = LogRetention::from(&claude_mem_core::config::from_text(None, |_| None).settings);
    LogWriter::new(scratch.dir.logs(), LogAuthor::Worker, keep)
}

/// One event of a session, `seconds` after the epoch.
pub fn event(session: &str, seconds: i64, body: EventBody) -> Event {
    Event {
        project: Some(ProjectHint { branch: Some("main".into()), ..shop_project() }),
        ..Event::new("claude-code", ClientSessionId(session.into()), Micros(seconds * 1_000_000), body)
    }
}

pub fn prompt(text: &str) -> EventBody {
    EventBody::Prompt { text: text.into(), private: false, source: TextSource::Prompt }
}

/// An `Edit` of a file, with its tool use id.
pub fn edit(file: &str, id: &str) -> EventBody {
    EventBody::ToolUse {
        tool: "Edit".into(),
        tool_use_id: Some(id.into()),
        input: json!({"file_path": file, "old_string": "a", "new_string": "b"}),
        output: json!({}),
        failed: false,
        duration_ms: None,
    }
}

pub fn stop(text: &str) -> EventBody {
    EventBody::Stop { last_message: Some(text.into()) }
}

pub fn end() -> EventBody {
    EventBody::SessionEnd { reason: "other".into() }
}

/// An observation with nothing but a title.
pub fn observation(title: &str, at: Millis) -> NewObservation {
    NewObservation::new(ObservationType::DECISION, title, Origin::User, at)
}

/// Queues events as hooks would.
pub fn accept(store: &mut Store, events: &[Event]) {
    for event in events {
        store.write(|tx| tx.accept(event_key::event_key(event, None), event, Millis(0))).unwrap();
    }
}

/// The project `shop`, without a branch.
pub fn shop_project() -> ProjectHint {
    ProjectHint {
        name: "shop".into(),
        keys: vec!["path:/src/shop".into()],
        root: "/src/shop".into(),
        branch: None,
    }
}
