//! One function per route of sharing. Each authenticates and works in one transaction.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Extension, Path, Query, State};
use axum::http::HeaderMap;
use claude_mem_wire::limits::{
    PAGE_NAMES_MAX, PAGE_RECORDS_MAX, PAGE_UIDS_MAX, PROTOCOL_MAX, PROTOCOL_MIN, PUSH_BODY_BYTES_MAX,
    PUSH_RECORDS_MAX, WAIT_SECONDS_MAX, WAIT_SPACES_MAX,
};
use claude_mem_wire::messages::{
    HelloReply, JoinReply, JoinRequest, MeReply, NamesPage, PushReply, PushRequest, RecordsPage, SpaceInfo,
    SpaceRequest, WaitReply, WaitRequest,
};
use claude_mem_wire::{ErrorCode, RecordUid, SpaceId};
use serde::Deserialize;

use super::body::JsonBody;
use super::gate::ClientAddress;
use super::reply::JsonReply;
use super::service::{TeamService, now};
use crate::db::TransactionKind::{ReadSnapshot, ReadWrite};
use crate::db::{self, PageCursor};
use crate::error::ServiceError;

pub(super) type Outcome<T> = Result<JsonReply<T>, ServiceError>;
pub(super) type Shared = State<Arc<TeamService>>;

pub(super) async fn hello() -> JsonReply<HelloReply> {
    JsonReply(HelloReply {
        protocol_min: PROTOCOL_MIN,
        protocol_max: PROTOCOL_MAX,
        server_version: env!("CARGO_PKG_VERSION").to_owned(),
        now: now(),
    })
}

pub(super) async fn join(
    State(service): Shared,
    Extension(ClientAddress(address)): Extension<ClientAddress>,
    JsonBody(request): JsonBody<JoinRequest>,
) -> Outcome<JoinReply> {
    service.count_stranger(None, address, Instant::now())?;
    let database = &service.database;
    let reply =
        database.repeat(|| async { db::join(&mut database.connection().await?, &request, now()).await });
    let reply = reply.await?;
    // Others who join from the same address do not hold up what the new machine asks next.
    service.remember(request.token.hash());
    Ok(JsonReply(reply))
}

pub(super) async fn me(State(service): Shared, headers: HeaderMap) -> Outcome<MeReply> {
    let token = service.token(&headers)?;
    let work = service.database.for_caller(&token, ReadSnapshot, |transaction, caller, _| {
        Box::pin(db::me(transaction, caller, now()))
    });
    Ok(JsonReply(work.await?))
}

pub(super) async fn spaces(
    State(service): Shared,
    headers: HeaderMap,
    JsonBody(request): JsonBody<SpaceRequest>,
) -> Outcome<SpaceInfo> {
    let token = service.token(&headers)?;
    let work = service.database.for_caller(&token, ReadWrite, |transaction, caller, _| {
        Box::pin(db::find_or_make_space(transaction, caller, &request, now()))
    });
    Ok(JsonReply(work.await?))
}

pub(super) async fn push(
    State(service): Shared,
    Path(space): Path<SpaceId>,
    headers: HeaderMap,
    JsonBody(request): JsonBody<PushRequest>,
) -> Outcome<PushReply> {
    let token = service.token(&headers)?;
    let bodies = request.records.iter().filter_map(|record| record.body.as_ref());
    let bytes: usize = bodies.map(|body| body.as_str().len()).sum();
    if request.records.len() > PUSH_RECORDS_MAX || bytes > PUSH_BODY_BYTES_MAX {
        return Err(ServiceError::Refused(ErrorCode::TooLarge, "too many records at once"));
    }
    let pushed = service.database.for_caller(&token, ReadWrite, |transaction, caller, _| {
        Box::pin(async {
            let reply = db::push(transaction, caller, space, &request.records, now()).await?;
            db::mark_seen(transaction, caller, now()).await?;
            Ok((caller.team, reply))
        })
    });
    let (team, reply) = pushed.await?;
    service.hub.announce(team, space, reply.state.head);
    Ok(JsonReply(reply))
}

/// Parameters of a page of records: one of `after`, `before` and `uids`.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct RecordsParams {
    after: Option<i64>,
    before: Option<i64>,
    uids: Option<String>,
    limit: Option<usize>,
}

impl RecordsParams {
    fn cursor(&self) -> Result<PageCursor, ServiceError> {
        const WRONG: ServiceError =
            ServiceError::bad_request("exactly one of after, before and uids is required");
        match (self.after, self.before, &self.uids) {
            (Some(after), None, None) => Ok(PageCursor::After(after)),
            (None, Some(before), None) => Ok(PageCursor::Before(before)),
            (None, None, Some(uids)) => {
                let uids: Result<Vec<RecordUid>, _> = uids.split(',').map(str::parse).collect();
                let uids = uids.ok().filter(|uids| uids.len() <= PAGE_UIDS_MAX);
                Ok(PageCursor::Named(uids.ok_or(ServiceError::bad_request("uids has up to 100 ids"))?))
            }
            _ => Err(WRONG),
        }
    }
}

pub(super) async fn records(
    State(service): Shared,
    Path(space): Path<SpaceId>,
    Query(query): Query<RecordsParams>,
    headers: HeaderMap,
) -> Outcome<RecordsPage> {
    let token = service.token(&headers)?;
    let cursor = query.cursor()?;
    let limit = query.limit.unwrap_or(PAGE_RECORDS_MAX).clamp(1, PAGE_RECORDS_MAX);
    let work = service.database.for_caller(&token, ReadSnapshot, |transaction, caller, _| {
        Box::pin(db::records_page(transaction, caller, space, &cursor, limit))
    });
    Ok(JsonReply(work.await?))
}

/// Parameters of a page of names.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct NamesQuery {
    after: Option<RecordUid>,
    limit: Option<usize>,
}

pub(super) async fn names(
    State(service): Shared,
    Path(space): Path<SpaceId>,
    Query(query): Query<NamesQuery>,
    headers: HeaderMap,
) -> Outcome<NamesPage> {
    let token = service.token(&headers)?;
    let limit = query.limit.unwrap_or(PAGE_NAMES_MAX).clamp(1, PAGE_NAMES_MAX);
    let work = service.database.for_caller(&token, ReadSnapshot, |transaction, caller, _| {
        Box::pin(db::names_page(transaction, caller, space, query.after, limit))
    });
    Ok(JsonReply(work.await?))
}

pub(super) async fn wait(
    State(service): Shared,
    headers: HeaderMap,
    JsonBody(request): JsonBody<WaitRequest>,
) -> Outcome<WaitReply> {
    let token = service.token(&headers)?;
    if request.heads.len() > WAIT_SPACES_MAX {
        return Err(ServiceError::bad_request("too many spaces at once"));
    }
    let heads: Vec<(SpaceId, i64)> = request.heads.iter().map(|(space, head)| (*space, *head)).collect();
    let look = || look_at_heads(&service, &token, &heads);
    let (team, first) = look().await?;
    if !first.changed.is_empty() || request.seconds == 0 {
        return Ok(JsonReply(first));
    }
    let ticket = service.hub.register(team, &heads);
    // A change between the first look and the registration would be missed.
    let (_, second) = look().await?;
    if !second.changed.is_empty() {
        return Ok(JsonReply(second));
    }
    let mut ending = service.ending.clone();
    tokio::select! {
        () = ticket.woken() => {}
        () = tokio::time::sleep(Duration::from_secs(request.seconds.min(WAIT_SECONDS_MAX))) => {}
        // A service that ends answers at once; an error means that it has ended.
        _ = ending.wait_for(|ending| *ending) => {}
    }
    drop(ticket);
    // The token may have been revoked meanwhile.
    let (_, last) = look().await?;
    Ok(JsonReply(last))
}

async fn look_at_heads(
    service: &TeamService,
    token: &claude_mem_wire::SecretHash,
    heads: &[(SpaceId, i64)],
) -> Result<(claude_mem_wire::TeamId, WaitReply), ServiceError> {
    let spaces: Vec<SpaceId> = heads.iter().map(|(space, _)| *space).collect();
    let known: BTreeMap<SpaceId, i64> = heads.iter().copied().collect();
    let looked = service.database.for_caller(token, ReadWrite, |transaction, caller, _| {
        Box::pin(async {
            let mut changed = db::space_states(transaction, caller, &spaces).await?;
            changed.retain(|space, state| known.get(space) != Some(&state.head));
            db::mark_seen(transaction, caller, now()).await?;
            let reply = WaitReply { changed, generation: caller.generation, now: now() };
            Ok((caller.team, reply))
        })
    });
    looked.await
}

pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether the database answers.
pub(super) async fn readyz(State(service): Shared) -> Result<&'static str, ServiceError> {
    if *service.ending.borrow() {
        return Err(ServiceError::Refused(ErrorCode::Unavailable, "the service is ending"));
    }
    let mut connection = service.database.connection().await?;
    let transaction = db::begin_snapshot(&mut connection).await?;
    transaction.commit().await?;
    Ok("ready\n")
}
