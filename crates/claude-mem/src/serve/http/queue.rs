//! Events on their way to becoming memories.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::Api;
use super::call::Params;
use super::lists::{listed, page};
use super::problem::Problem;
use super::route::Nothing;
use super::rows::Listed;
use crate::clock::Millis;
use crate::ids::{ClientSessionId, PendingId};
use crate::limits::HTTP_ROWS_MAX;
use crate::pause;
use crate::store::QueueCounts;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Counts {
    waiting: u64,
    leased: u64,
    done: u64,
    dead: u64,
}

impl From<QueueCounts> for Counts {
    fn from(counts: QueueCounts) -> Self {
        let QueueCounts {
            waiting,
            leased,
            done,
            dead,
        } = counts;
        Self {
            waiting,
            leased,
            done,
            dead,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Status {
    queue: Counts,
    /// Sessions that have something to be worked on.
    active: Vec<Active>,
    /// There are more of them than are listed.
    has_more: bool,
    /// Whether nothing new is kept.
    paused: bool,
    provider: &'static str,
    pause: Option<Pause>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Active {
    session: ClientSessionId,
    events: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Pause {
    reason: &'static str,
    until: Option<Millis>,
}

pub(super) fn status(api: &Api, _: &Params, _: Nothing) -> Result<Status, Problem> {
    let in_force = pause::in_force(&api.dir().paused(), api.now());
    api.view(|reads| {
        let active = reads.sessions_with_work()?;
        let has_more = active.len() > HTTP_ROWS_MAX as usize;
        let active = active.into_iter().map(|ready| Active {
            session: ready.session,
            events: ready.events,
        });
        Ok(Status {
            queue: reads.queue_counts()?.into(),
            active: active.take(HTTP_ROWS_MAX as usize).collect(),
            has_more,
            paused: in_force.is_some(),
            provider: api.worker.settings.provider.as_str(),
            pause: in_force.map(|pause| Pause {
                reason: "asked for",
                until: pause.until,
            }),
        })
    })
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum State {
    Waiting,
    Leased,
    Done,
    Dead,
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Leased => "leased",
            Self::Done => "done",
            Self::Dead => "dead",
        }
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Which {
    state: Option<State>,
    offset: u32,
    limit: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event {
    id: PendingId,
    client: String,
    session: ClientSessionId,
    kind: String,
    state: String,
    attempts: u32,
    error: Option<String>,
    accepted_at: Millis,
}

pub(super) fn list(api: &Api, _: &Params, which: Which) -> Result<Listed<Event>, Problem> {
    let page = page(which.offset, which.limit);
    api.view(|reads| {
        listed(
            page,
            reads.pending(which.state.map(State::name), page)?,
            |row| {
                Ok(Event {
                    id: row.id,
                    client: row.client,
                    session: row.session,
                    kind: row.kind,
                    state: row.state,
                    attempts: row.attempts,
                    error: row.error,
                    accepted_at: row.accepted_at,
                })
            },
        )
    })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Done {
    done: bool,
}

pub(super) fn retry(api: &Api, params: &Params, _: Nothing) -> Result<Done, Problem> {
    let id = PendingId(params.id()?);
    let was_dead = api.change(|store| store.write(|tx| tx.retry_pending(id)))?;
    api.worker.drain.ring();
    if_dead(was_dead)
}

pub(super) fn drop_dead(api: &Api, params: &Params, _: Nothing) -> Result<Done, Problem> {
    let id = PendingId(params.id()?);
    let was_dead = api.change(|store| store.write(|tx| tx.drop_pending(id)))?;
    if_dead(was_dead)
}

fn if_dead(was_dead: bool) -> Result<Done, Problem> {
    if was_dead {
        return Ok(Done { done: true });
    }
    Err(Problem::new(
        StatusCode::CONFLICT,
        "this event is not dead",
        "Only events that could not be worked on are retried or dropped.",
    ))
}
