//! Events and data directories for the tests of this folder.

use serde_json::json;

use crate::clock::{Micros, Millis};
use crate::hook::event::{Body, Event, ProjectHint};
use crate::hook::key;
use crate::ids::ClientSessionId;
use crate::log::{Author, Keep, Log};
use crate::memory::{NewObservation, ObservationType, Origin};
use crate::paths::DataDir;
use crate::store::Store;

pub(crate) struct Scratch {
    pub(crate) dir: DataDir,
    _temporary: tempfile::TempDir,
}

pub(crate) fn scratch() -> Scratch {
    let temporary = tempfile::tempdir().unwrap();
    Scratch {
        dir: DataDir::new(temporary.path()),
        _temporary: temporary,
    }
}

pub(crate) fn log(scratch: &Scratch) -> Log {
    let keep = Keep::from(&crate::config::from_text(None, |_| None).settings);
    Log::new(scratch.dir.logs(), Author::Worker, keep)
}

/// One event of a session, at so many seconds.
pub(crate) fn event(session: &str, seconds: i64, body: Body) -> Event {
    Event {
        client: "claude-code".into(),
        session: ClientSessionId(session.into()),
        at: Micros(seconds * 1_000_000),
        project: Some(ProjectHint {
            name: "shop".into(),
            keys: vec!["path:/src/shop".into()],
            root: "/src/shop".into(),
            branch: Some("main".into()),
        }),
        prompt_id: None,
        agent_id: None,
        agent_type: None,
        transcript_path: None,
        cut: false,
        body,
    }
}

pub(crate) fn prompt(text: &str) -> Body {
    Body::Prompt {
        text: text.into(),
        private: false,
    }
}

pub(crate) fn edit(file: &str, id: &str) -> Body {
    Body::ToolUse {
        tool: "Edit".into(),
        tool_use_id: Some(id.into()),
        input: json!({"file_path": file, "old_string": "a", "new_string": "b"}),
        output: json!({}),
        failed: false,
        duration_ms: None,
    }
}

pub(crate) fn stop(text: &str) -> Body {
    Body::Stop {
        last_message: Some(text.into()),
    }
}

pub(crate) fn end() -> Body {
    Body::SessionEnd {
        reason: "other".into(),
    }
}

/// Queues them as hooks would.
/// A memory of which the title says all.
pub(crate) fn observation(title: &str, at: Millis) -> NewObservation {
    NewObservation {
        kind: ObservationType::DECISION,
        title: title.into(),
        subtitle: String::new(),
        narrative: String::new(),
        facts: Vec::new(),
        concepts: Vec::new(),
        files_read: Vec::new(),
        files_modified: Vec::new(),
        origin: Origin::User,
        created_at: at,
        discovery_tokens: 0,
    }
}

pub(crate) fn accept(store: &mut Store, events: &[Event]) {
    for event in events {
        store
            .write(|tx| tx.accept(key::of(event, None), event, Millis(0)))
            .unwrap();
    }
}
