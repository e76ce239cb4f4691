//! What happens, as it happens: server-sent events.
//!
//! Every page has its own connection to the database and its own marks of what it has seen. It
//! looks when something was stored, and once a second for what other processes did. So little
//! is kept for a page that does not read: it looks again when it has taken what it was sent,
//! and a page that comes back says by `Last-Event-ID` how far it was.

use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::api::Api;
use super::pipe::{self, Gone, Writer};
use super::problem::Problem;
use super::watch::{Missed, Removed, Spent, Watch};
use super::{queue, rows};
use crate::limits::{HTTP_STREAM_LOOK_MS, HTTP_STREAM_PATIENCE_SECONDS, HTTP_STREAM_QUIET_SECONDS};
use crate::store::Marks;

/// What a page is told first.
#[derive(Serialize, JsonSchema)]
pub(super) struct Hello {
    version: &'static str,
    port: u16,
}

/// What each event holds, for the description of the API.
pub(super) fn events(generator: &mut SchemaGenerator) -> Value {
    json!({
        "connected": generator.subschema_for::<Hello>(),
        "observation": generator.subschema_for::<rows::ObservationView>(),
        "summary": generator.subschema_for::<rows::SummaryView>(),
        "prompt": generator.subschema_for::<rows::PromptView>(),
        "message": generator.subschema_for::<rows::MessageView>(),
        "session": generator.subschema_for::<rows::SessionView>(),
        "removed": generator.subschema_for::<Removed>(),
        "missed": generator.subschema_for::<Missed>(),
        "queue": generator.subschema_for::<queue::Counts>(),
        "spend": generator.subschema_for::<Spent>(),
    })
}

/// Opens a stream for the request of this head.
pub(super) async fn answer(api: &Arc<Api>, headers: &HeaderMap) -> Response {
    let Ok(place) = Arc::clone(&api.streams).try_acquire_owned() else {
        return Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many pages are open",
            "Close some.",
        )
        .into_response();
    };
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let (seen, db) = (last.and_then(marks), api.dir().db());
    // Before the first word of the answer: afterwards nobody could be told that it failed.
    let page = match blocking(move || Watch::open(&db, seen)).await {
        Ok(Ok(page)) => page,
        Ok(Err(problem)) => {
            api.worker
                .trouble("a stream could not begin", &problem.error);
            return problem.into_response();
        }
        Err(error) => return Problem::ours(error).into_response(),
    };
    let (writer, gone, body) = match pipe::open().await {
        Ok(opened) => opened,
        Err(error) => return Problem::ours(error).into_response(),
    };
    tokio::spawn(follow(Arc::clone(api), writer, gone, page, place));
    let kind = HeaderValue::from_static("text/event-stream");
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

/// Tells one page until it goes, or the server ends.
async fn follow(
    api: Arc<Api>,
    writer: Writer,
    gone: Gone,
    page: Watch,
    _place: OwnedSemaphorePermit,
) {
    // The worker stays for as long as somebody looks.
    let _viewer = api.worker.presence.enter();
    if let Err(why) = tell(&api, writer, gone, page).await {
        api.worker.trouble("a stream broke off", &why);
    }
}

async fn tell(
    api: &Arc<Api>,
    mut writer: Writer,
    mut gone: Gone,
    mut page: Watch,
) -> Result<(), String> {
    let mut stored = api.worker.changes.subscribe();
    let mut stirred = api.stirred.subscribe();
    let mut ending = api.ending.clone();
    let mut looks = interval(Duration::from_millis(HTTP_STREAM_LOOK_MS));
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut quiet = interval(Duration::from_secs(HTTP_STREAM_QUIET_SECONDS));
    quiet.set_missed_tick_behavior(MissedTickBehavior::Delay);
    quiet.reset();
    let hello = Hello {
        version: env!("CARGO_PKG_VERSION"),
        port: api.port,
    };
    // With an id: whoever drops off before anything happens has something to come back with.
    if !send(&mut writer, &event("connected", Some(page.seen), &hello)).await {
        return Ok(());
    }
    loop {
        let (back, look) = blocking(move || {
            let look = page.look();
            (page, look)
        })
        .await?;
        page = back;
        let look = look.map_err(|problem| problem.error)?;
        for text in &look.events {
            if !send(&mut writer, text).await {
                return Ok(());
            }
        }
        if look.over {
            // The page comes back, and is told of the database that lies there now.
            let _ = writer.end().await;
            return Ok(());
        }
        if look.more {
            continue;
        }
        tokio::select! {
            told = stored.recv() => if matches!(told, Err(RecvError::Closed)) {
                return Ok(());
            },
            _ = stirred.changed() => {}
            _ = looks.tick() => {}
            _ = quiet.tick() => if !send(&mut writer, ": nothing new\n\n").await {
                return Ok(());
            },
            () = gone.wait() => return Ok(()),
            () = ended(&mut ending) => {
                // The page is told that this is the end, not that something broke.
                let _ = writer.end().await;
                return Ok(());
            }
        }
    }
}

async fn ended(ending: &mut watch::Receiver<bool>) {
    // Without a sender there is no server any more either.
    let _ = ending.wait_for(|ending| *ending).await;
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|e| e.to_string())
}

/// False if the page is gone, or takes too long.
async fn send(writer: &mut Writer, text: &str) -> bool {
    let patience = Duration::from_secs(HTTP_STREAM_PATIENCE_SECONDS);
    matches!(timeout(patience, writer.send(text)).await, Ok(Ok(())))
}

/// One event. What can be resumed after has an id: how far the page is then.
pub(super) fn event(name: &str, seen: Option<Marks>, data: &impl Serialize) -> String {
    let data = serde_json::to_string(data).unwrap_or_default();
    let id = seen.map_or_else(String::new, |seen| format!("id: {}\n", id(seen)));
    format!("{id}event: {name}\ndata: {data}\n\n")
}

/// How far a page is, as it says it when it comes back.
pub(super) fn id(seen: Marks) -> String {
    let Marks {
        observation,
        summary,
        prompt,
        message,
        changed,
    } = seen;
    format!("{observation}.{summary}.{prompt}.{message}.{changed}")
}

/// Reads an id back. One that is not ours is as good as none.
pub(super) fn marks(text: &str) -> Option<Marks> {
    let numbers: Option<Vec<i64>> = text.split('.').map(|part| part.parse().ok()).collect();
    let [observation, summary, prompt, message, changed] = numbers?[..] else {
        return None;
    };
    let seen = [observation, summary, prompt, message, changed];
    seen.iter().all(|number| *number >= 0).then_some(Marks {
        observation,
        summary,
        prompt,
        message,
        changed,
    })
}
