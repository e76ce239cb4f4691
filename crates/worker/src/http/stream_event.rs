//! [`StreamEvent`], one event of the stream, and its id, from which a page resumes.

use axum::response::sse::Event;
use serde::Serialize;

use claude_mem_store::ChangeCursor;

/// One event of the stream.
#[derive(Clone, Debug)]
pub(super) struct StreamEvent {
    /// A page that reconnects with this id receives everything after this event.
    pub(super) id: Option<String>,
    pub(super) name: &'static str,
    /// JSON.
    pub(super) data: String,
}

impl StreamEvent {
    /// With a cursor the event gets an id, and a page can resume after it.
    pub(super) fn new(name: &'static str, seen: Option<ChangeCursor>, data: &impl Serialize) -> Self {
        Self { id: seen.map(event_id), name, data: serde_json::to_string(data).unwrap_or_default() }
    }
}

impl From<StreamEvent> for Event {
    fn from(event: StreamEvent) -> Self {
        let sent = Self::default().event(event.name).data(event.data);
        match event.id {
            Some(id) => sent.id(id),
            None => sent,
        }
    }
}

/// The event id of a cursor, which a page sends back as `Last-Event-ID`.
pub(super) fn event_id(seen: ChangeCursor) -> String {
    let ChangeCursor { observation, summary, prompt, message, account, changed } = seen;
    format!("{observation}.{summary}.{prompt}.{message}.{account}.{changed}")
}

/// Parses an event id. `None` if it is not one of ours.
pub(super) fn parse_event_id(text: &str) -> Option<ChangeCursor> {
    let numbers: Option<Vec<i64>> = text.split('.').map(|part| part.parse().ok()).collect();
    let [observation, summary, prompt, message, account, changed] = numbers?[..] else {
        return None;
    };
    let seen = [observation, summary, prompt, message, account, changed];
    seen.iter().all(|number| *number >= 0).then_some(ChangeCursor {
        observation,
        summary,
        prompt,
        message,
        account,
        changed,
    })
}
