//! Routes of the event queue: status, list, retry and delete.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::paging::{ListPage, map_page, page};
use super::problem::Problem;
use super::route::NoParams;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ClientSessionId, PendingId};
use claude_mem_core::limits::HTTP_ROWS_MAX;
use claude_mem_core::pause;
use claude_mem_store::QueueCounts;

/// Queued events by state.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Counts")]
pub(super) struct QueueCountsView {
    waiting: u64,
    leased: u64,
    done: u64,
    dead: u64,
}

impl From<QueueCounts> for QueueCountsView {
    fn from(counts: QueueCounts) -> Self {
        let QueueCounts { waiting, leased, done, dead } = counts;
        Self { waiting, leased, done, dead }
    }
}

/// State of the event queue and of capture.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Status")]
pub(super) struct QueueStatusView {
    queue: QueueCountsView,
    /// Sessions with pending events.
    active: Vec<ActiveSessionView>,
    /// There are more sessions than are listed.
    has_more: bool,
    /// Whether capture is paused.
    paused: bool,
    provider: &'static str,
    pause: Option<PauseView>,
}

/// A session with pending events.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Active")]
struct ActiveSessionView {
    session: ClientSessionId,
    events: u64,
}

/// A pause of capture.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Pause")]
struct PauseView {
    reason: &'static str,
    until: Option<Millis>,
}

/// Handles `GET /api/processing-status`.
pub(super) fn status(api: &ApiState, _: &PathParams, _: NoParams) -> Result<QueueStatusView, Problem> {
    let in_force = pause::active_pause(&api.dir().paused(), api.now());
    api.view(|reads| {
        let active = reads.sessions_with_work()?;
        let has_more = active.len() > HTTP_ROWS_MAX as usize;
        let active = active
            .into_iter()
            .map(|ready| ActiveSessionView { session: ready.session, events: ready.events });
        Ok(QueueStatusView {
            queue: reads.queue_counts()?.into(),
            active: active.take(HTTP_ROWS_MAX as usize).collect(),
            has_more,
            paused: in_force.is_some(),
            provider: api.settings().settings.provider.as_str(),
            pause: in_force.map(|pause| PauseView { reason: "asked for", until: pause.until }),
        })
    })
}

/// State of a queued event.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "State")]
enum QueueStateParam {
    Waiting,
    Leased,
    Done,
    Dead,
}

impl QueueStateParam {
    const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Leased => "leased",
            Self::Done => "done",
            Self::Dead => "dead",
        }
    }
}

/// Filter and page of the list of events.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct QueueListParams {
    state: Option<QueueStateParam>,
    offset: u32,
    limit: Option<u32>,
}

/// A queued event, without its content.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Event")]
pub(super) struct QueuedEventView {
    id: PendingId,
    client: String,
    session: ClientSessionId,
    kind: String,
    state: String,
    attempts: u32,
    error: Option<String>,
    accepted_at: Millis,
}

/// Handles `GET /api/queue`.
pub(super) fn list(
    api: &ApiState,
    _: &PathParams,
    which: QueueListParams,
) -> Result<ListPage<QueuedEventView>, Problem> {
    let page = page(which.offset, which.limit);
    api.view(|reads| {
        map_page(page, reads.pending(which.state.map(QueueStateParam::name), page)?, |row| {
            Ok(QueuedEventView {
                id: row.id,
                client: row.client,
                session: row.session,
                kind: row.kind,
                state: row.state,
                attempts: row.attempts,
                error: row.error,
                accepted_at: row.accepted_at,
            })
        })
    })
}

/// Confirms an action on an event.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Done")]
pub(super) struct QueueActionResponse {
    done: bool,
}

/// Handles `POST /api/queue/{id}/retry`.
pub(super) fn retry(
    api: &ApiState,
    params: &PathParams,
    _: NoParams,
) -> Result<QueueActionResponse, Problem> {
    let id = PendingId(params.id()?);
    let was_dead = api.change(|store| store.write(|tx| tx.retry_pending(id)))?;
    api.worker.scheduler.notify();
    require_dead(was_dead)
}

/// Handles `DELETE /api/queue/{id}`.
pub(super) fn drop_dead(
    api: &ApiState,
    params: &PathParams,
    _: NoParams,
) -> Result<QueueActionResponse, Problem> {
    let id = PendingId(params.id()?);
    let was_dead = api.change(|store| store.write(|tx| tx.drop_pending(id)))?;
    require_dead(was_dead)
}

fn require_dead(was_dead: bool) -> Result<QueueActionResponse, Problem> {
    if was_dead {
        return Ok(QueueActionResponse { done: true });
    }
    Err(Problem::new(
        StatusCode::CONFLICT,
        "this event is not dead",
        "Only dead events can be retried or deleted.",
    ))
}
