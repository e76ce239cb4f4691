//! The event stream: changes of the database as server-sent events.
//!
//! Every page has its own [`ChangeWatcher`], that is, its own database connection and its own
//! cursor. It is polled when something was stored, and once a second for changes by other
//! processes. There is no queue per page: the database is polled again only after the page has
//! read what was sent, and a page that reconnects resumes from its `Last-Event-ID`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::try_unfold;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast, watch};
use tokio::time::sleep;

use super::api::ApiState;
use super::problem::Problem;
use super::queue;
use super::rows;
use super::stream_event::{StreamEvent, parse_event_id};
use super::watch::{ChangeWatcher, MissedEvent, RemovedEvent, SpendEvent};
use crate::idle::ViewerGuard;
use claude_mem_core::limits::HTTP_STREAM_QUIET_SECONDS;
use claude_mem_ingest::job::StoredRows;

/// Milliseconds between two polls of a stream for changes by other processes.
const HTTP_STREAM_LOOK_MS: u64 = 1_000;

/// The first event of a stream.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Hello")]
pub(super) struct ConnectedEvent {
    version: &'static str,
    port: u16,
}

/// The schema of each event, for the OpenAPI document.
pub(super) fn event_schemas(generator: &mut SchemaGenerator) -> Value {
    json!({
        "connected": generator.subschema_for::<ConnectedEvent>(),
        "observation": generator.subschema_for::<rows::ObservationView>(),
        "summary": generator.subschema_for::<rows::SummaryView>(),
        "prompt": generator.subschema_for::<rows::PromptView>(),
        "message": generator.subschema_for::<rows::MessageView>(),
        "session": generator.subschema_for::<rows::SessionView>(),
        "removed": generator.subschema_for::<RemovedEvent>(),
        "missed": generator.subschema_for::<MissedEvent>(),
        "queue": generator.subschema_for::<queue::QueueCountsView>(),
        "spend": generator.subschema_for::<SpendEvent>(),
    })
}

/// Opens an event stream, from the `Last-Event-ID` header if there is one.
pub(super) async fn open_stream(api: &Arc<ApiState>, headers: &HeaderMap) -> Response {
    let Ok(slot) = Arc::clone(&api.stream_slots).try_acquire_owned() else {
        return Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too many pages are open", "Close some.")
            .into_response();
    };
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let (seen, db) = (last.and_then(parse_event_id), api.dir().db());
    // Opened before the response starts: afterwards a failure could not be reported.
    let watcher = match run_blocking(move || ChangeWatcher::open(&db, seen)).await {
        Ok(Ok(watcher)) => watcher,
        Ok(Err(problem)) => {
            api.worker.warn("failed to open an event stream", &problem.error);
            return problem.into_response();
        }
        Err(error) => return Problem::internal(error).into_response(),
    };
    let events = try_unfold(EventSource::new(api, watcher, slot), EventSource::next);
    let quiet = Duration::from_secs(HTTP_STREAM_QUIET_SECONDS);
    let keep_alive = KeepAlive::new().interval(quiet).text("nothing new");
    let mut response = Sse::new(events).keep_alive(keep_alive).into_response();
    // Stricter than what `Sse` sets: nothing of the stream may be stored.
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The source of one stream's events. It is dropped with the response when the page leaves.
struct EventSource {
    api: Arc<ApiState>,
    watcher: ChangeWatcher,
    /// Found by the last poll and not sent yet.
    pending: VecDeque<StreamEvent>,
    /// There is more to find: poll again without waiting.
    has_more: bool,
    is_database_replaced: bool,
    stored: broadcast::Receiver<StoredRows>,
    changed: watch::Receiver<u64>,
    shutdown: watch::Receiver<bool>,
    /// An open stream keeps the worker from going idle.
    _viewer: ViewerGuard,
    _slot: OwnedSemaphorePermit,
}

impl EventSource {
    fn new(api: &Arc<ApiState>, watcher: ChangeWatcher, slot: OwnedSemaphorePermit) -> Self {
        let connected = ConnectedEvent { version: env!("CARGO_PKG_VERSION"), port: api.port };
        // With an id, so that a page that disconnects before the first change can resume too.
        let first = StreamEvent::new("connected", Some(watcher.seen), &connected);
        Self {
            watcher,
            pending: [first].into(),
            has_more: true,
            is_database_replaced: false,
            stored: api.worker.changes.subscribe(),
            changed: api.change_count.subscribe(),
            shutdown: api.shutdown.clone(),
            _viewer: api.worker.idle.add_viewer(),
            _slot: slot,
            api: Arc::clone(api),
        }
    }

    /// The next event, once there is one. `None` completes the response, so that the page sees no
    /// error and reconnects: at shutdown, or to read the database that replaced this one.
    async fn next(mut self) -> Result<Option<(Event, Self)>, String> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Ok(Some((event.into(), self)));
            }
            if self.is_database_replaced || !(self.has_more || self.wait_for_change().await) {
                return Ok(None);
            }
            let (mut watcher, api) = (self.watcher, Arc::clone(&self.api));
            let polled = run_blocking(move || {
                let batch = watcher.poll();
                (watcher, batch)
            });
            let polled = polled.await.and_then(|(back, batch)| match batch {
                Ok(batch) => Ok((back, batch)),
                Err(problem) => Err(problem.error),
            });
            let (back, batch) =
                polled.inspect_err(|error| api.worker.warn("an event stream failed", error))?;
            self.watcher = back;
            self.pending = batch.events.into();
            self.has_more = batch.has_more;
            self.is_database_replaced = batch.is_database_replaced;
        }
    }

    /// Waits until it is time to poll again. False if the stream has to end.
    async fn wait_for_change(&mut self) -> bool {
        tokio::select! {
            stored = self.stored.recv() => !matches!(stored, Err(RecvError::Closed)),
            _ = self.changed.changed() => true,
            () = sleep(Duration::from_millis(HTTP_STREAM_LOOK_MS)) => true,
            // An error means that the sender, and with it the server, was dropped.
            _ = self.shutdown.wait_for(|ending| *ending) => false,
        }
    }
}

async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|e| e.to_string())
}
