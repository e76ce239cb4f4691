//! One function per route of administration: invites, members, devices, retraction and the audit log.

use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use claude_mem_wire::limits::PAGE_AUDIT_MAX;
use claude_mem_wire::messages::{
    AuditPage, DeviceInfo, InviteReply, InviteRequest, MemberInfo, MemberPatch, RetractReply, RetractRequest,
};
use claude_mem_wire::{AuditId, DeviceId, MemberId};
use serde::Deserialize;

use super::body::JsonBody;
use super::handlers::{Outcome, Shared};
use super::reply::JsonReply;
use super::service::now;
use crate::db;
use crate::db::TransactionKind::{ReadSnapshot, ReadWrite};

pub(super) async fn invites(
    State(service): Shared,
    headers: HeaderMap,
    JsonBody(request): JsonBody<InviteRequest>,
) -> Outcome<InviteReply> {
    let token = service.token(&headers)?;
    let work = service.database.for_caller(&token, ReadWrite, |transaction, caller, _| {
        Box::pin(db::create_invite(transaction, caller, &request, now()))
    });
    Ok(JsonReply(work.await?))
}

pub(super) async fn member(
    State(service): Shared,
    Path(member): Path<MemberId>,
    headers: HeaderMap,
    JsonBody(patch): JsonBody<MemberPatch>,
) -> Outcome<MemberInfo> {
    let token = service.token(&headers)?;
    let work = service.database.for_caller(&token, ReadWrite, |transaction, caller, _| {
        Box::pin(db::patch_member(transaction, caller, member, &patch, now()))
    });
    Ok(JsonReply(work.await?))
}

pub(super) async fn device(
    State(service): Shared,
    Path(device): Path<DeviceId>,
    headers: HeaderMap,
) -> Outcome<DeviceInfo> {
    let token = service.token(&headers)?;
    let work = service.database.for_caller(&token, ReadWrite, |transaction, caller, _| {
        Box::pin(db::revoke_device(transaction, caller, device, now()))
    });
    Ok(JsonReply(work.await?))
}

pub(super) async fn retract(
    State(service): Shared,
    headers: HeaderMap,
    JsonBody(request): JsonBody<RetractRequest>,
) -> Outcome<RetractReply> {
    let token = service.token(&headers)?;
    let mut retracted = 0;
    let mut is_first = true;
    // Each batch is complete in itself: a request that was cut short is simply repeated.
    loop {
        let batch = service.database.for_caller(&token, ReadWrite, |transaction, caller, _| {
            Box::pin(async {
                let batch = db::retract_batch(transaction, caller, &request, is_first, now()).await?;
                Ok((caller.team, batch))
            })
        });
        let (team, Some((space, state, count))) = batch.await? else { break };
        service.hub.announce(team, space, state.head);
        retracted += count;
        is_first = false;
    }
    Ok(JsonReply(RetractReply { retracted }))
}

/// Parameters of a page of the audit log.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct AuditQuery {
    before: Option<AuditId>,
    limit: Option<usize>,
}

pub(super) async fn audit(
    State(service): Shared,
    Query(query): Query<AuditQuery>,
    headers: HeaderMap,
) -> Outcome<AuditPage> {
    let token = service.token(&headers)?;
    let limit = query.limit.unwrap_or(PAGE_AUDIT_MAX).clamp(1, PAGE_AUDIT_MAX);
    let work = service.database.for_caller(&token, ReadSnapshot, |transaction, caller, _| {
        Box::pin(db::audit_page(transaction, caller, query.before, limit))
    });
    Ok(JsonReply(work.await?))
}
