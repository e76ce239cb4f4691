//! Invites: how members and their machines come into a team.

use claude_mem_wire::limits::INVITE_SECONDS;
use claude_mem_wire::messages::{InviteReply, InviteRequest, JoinReply, JoinRequest, MemberInfo, TeamInfo};
use claude_mem_wire::{
    DeviceId, ErrorCode, InviteId, InviteSecret, MemberId, MemberRole, TeamId, is_handle, tidy_name,
};
use deadpool_postgres::{Object, Transaction};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::Caller;
use super::audit::write_audit;
use super::caller::begin;
use super::caller::present;
use super::members::read_member;
use crate::error::ServiceError;
use crate::random::random_bytes;

/// Creates an invite. Its secret is returned once and stored as a hash.
pub(crate) async fn create_invite(
    transaction: &Transaction<'_>,
    caller: &Caller,
    request: &InviteRequest,
    now: i64,
) -> Result<InviteReply, ServiceError> {
    const INSERT: &str = "INSERT INTO claude_mem.invites \
            (team, id, secret_hash, role, handle, member, made_by, made_on, created_at, expires_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let (role, handle, member) = match request {
        InviteRequest::Member { role, handle } => {
            caller.require_admin()?;
            if handle.as_deref().is_some_and(|handle| !is_handle(handle)) {
                return Err(BAD_HANDLE);
            }
            (*role, handle.as_deref(), None)
        }
        InviteRequest::Me if matches!(caller.role, MemberRole::Bot) => {
            return Err(ServiceError::forbidden("a bot does not invite machines"));
        }
        InviteRequest::Me => (caller.role, None, Some(caller.member.0)),
    };
    let secret = InviteSecret::from_random(random_bytes()?);
    let (id, hash, expires_at) = (Uuid::now_v7(), secret.hash(), now + INVITE_SECONDS * 1_000);
    transaction
        .execute_typed(
            INSERT,
            &[
                (&caller.team.0, Type::UUID),
                (&id, Type::UUID),
                (&hash.0.as_slice(), Type::BYTEA),
                (&role.as_str(), Type::TEXT),
                (&handle, Type::TEXT),
                (&member, Type::UUID),
                (&caller.member.0, Type::UUID),
                (&caller.device.0, Type::UUID),
                (&now, Type::INT8),
                (&expires_at, Type::INT8),
            ],
        )
        .await?;
    let mut subject = if member.is_some() { "own machine" } else { role.as_str() }.to_owned();
    if let Some(handle) = handle {
        subject.push(' ');
        subject.push_str(handle);
    }
    write_audit(transaction, caller, now, "invite", &subject).await?;
    Ok(InviteReply { id: InviteId(id), secret, role, expires_at })
}

const BAD_HANDLE: ServiceError =
    ServiceError::bad_request("a handle has up to 32 lower-case letters, digits, '-', '_' and '.'");
const INVALID: ServiceError =
    ServiceError::Refused(ErrorCode::InviteInvalid, "the invite is unknown, used or expired");

/// Uses an invite. The same request again gives the same answer.
pub(crate) async fn join(
    connection: &mut Object,
    request: &JoinRequest,
    now: i64,
) -> Result<JoinReply, ServiceError> {
    const FIND: &str = "SELECT id, team, role, handle, member, made_by, expires_at, used_by, made_on, \
            set_config('claude_mem.team', team::text, true) \
        FROM claude_mem.invites WHERE secret_hash = $1 FOR UPDATE";
    const USE: &str = "UPDATE claude_mem.invites SET used_at = $3, used_by = $4 \
        WHERE team = $1 AND id = $2 AND used_by IS NULL";

    let transaction = begin(connection).await?;
    let secret = request.secret.hash();
    present(&transaction, &secret).await?;
    let invite = transaction.query_typed_opt(FIND, &[(&secret.0.as_slice(), Type::BYTEA)]).await?;
    let invite = invite.ok_or(INVALID)?;
    let team = TeamId(invite.try_get(1)?);
    if let Some(device) = invite.try_get::<_, Option<Uuid>>(7)? {
        return repeat_join(&transaction, request, team, DeviceId(device)).await;
    }
    let invited = invite.try_get::<_, Option<Uuid>>(4)?;
    let maker = InviteMaker { member: invite.try_get(5)?, device: invite.try_get(8)? };
    if invite.try_get::<_, i64>(6)? <= now || !maker.may_invite(&transaction, team, invited).await? {
        return Err(INVALID);
    }
    let member = match invited {
        Some(member) => become_member(&transaction, MemberId(member)).await?,
        None => insert_member(&transaction, request, team, &invite, now).await?,
    };
    let device = insert_device(&transaction, request, team, member, now).await?;
    let id: Uuid = invite.try_get(0)?;
    // Members and their role are checked against the invite that the request presents.
    transaction
        .execute_typed(
            USE,
            &[(&team.0, Type::UUID), (&id, Type::UUID), (&now, Type::INT8), (&device.0, Type::UUID)],
        )
        .await?;
    let reply = join_reply(&transaction, team, member, device).await?;
    let caller = Caller {
        team,
        member,
        device,
        role: reply.member.role,
        generation: claude_mem_wire::ServerGeneration(Uuid::nil()),
    };
    write_audit(&transaction, &caller, now, "join", &reply.member.handle).await?;
    transaction.commit().await?;
    Ok(reply)
}

/// The answer to a join whose first answer was lost: the token proves that the same device asks.
async fn repeat_join(
    transaction: &Transaction<'_>,
    request: &JoinRequest,
    team: TeamId,
    device: DeviceId,
) -> Result<JoinReply, ServiceError> {
    const FIND: &str = "SELECT member FROM claude_mem.devices \
        WHERE team = $1 AND id = $2 AND token_hash = $3 AND revoked_at IS NULL";
    let token = request.token.hash();
    present(transaction, &token).await?;
    let known = transaction
        .query_typed_opt(
            FIND,
            &[(&team.0, Type::UUID), (&device.0, Type::UUID), (&token.0.as_slice(), Type::BYTEA)],
        )
        .await?;
    let member = MemberId(known.ok_or(INVALID)?.try_get(0)?);
    join_reply(transaction, team, member, device).await
}

/// The member and the machine that made an invite; both `None` for the operator.
struct InviteMaker {
    member: Option<Uuid>,
    device: Option<Uuid>,
}

impl InviteMaker {
    /// Whether the maker could still make it. What a thief invited with a lost machine, or somebody who is no
    /// administrator any more, ends with the right to invite.
    async fn may_invite(
        &self,
        transaction: &Transaction<'_>,
        team: TeamId,
        invited: Option<Uuid>,
    ) -> Result<bool, ServiceError> {
        const REVOKED: &str =
            "SELECT revoked_at IS NOT NULL FROM claude_mem.devices WHERE team = $1 AND id = $2";
        let Some(member) = self.member else { return Ok(true) };
        let maker = read_member(transaction, team, MemberId(member)).await?;
        let Some(maker) = maker.filter(|maker| maker.left_at.is_none()) else { return Ok(false) };
        if invited != Some(member) && !maker.role.may_administer() {
            return Ok(false);
        }
        let Some(device) = self.device else { return Ok(true) };
        // Machines are visible to their own member.
        become_member(transaction, maker.id).await?;
        let device = [(&team.0 as _, Type::UUID), (&device as _, Type::UUID)];
        let row = transaction.query_typed_opt(REVOKED, &device).await?;
        Ok(row.map(|row| row.try_get(0)).transpose()? == Some(false))
    }
}

async fn become_member(transaction: &Transaction<'_>, member: MemberId) -> Result<MemberId, ServiceError> {
    const BECOME: &str = "SELECT set_config('claude_mem.member', $1, true)";
    transaction.query_typed(BECOME, &[(&member.to_string(), Type::TEXT)]).await?;
    Ok(member)
}

async fn insert_member(
    transaction: &Transaction<'_>,
    request: &JoinRequest,
    team: TeamId,
    invite: &Row,
    now: i64,
) -> Result<MemberId, ServiceError> {
    const INSERT: &str = "INSERT INTO claude_mem.members (team, id, handle, name, role, created_at) \
        VALUES ($1, $2, $3, $4, $5, $6)";
    let handle: Option<String> = invite.try_get(3)?;
    let handle = handle.unwrap_or_else(|| request.handle.clone());
    if !is_handle(&handle) {
        return Err(BAD_HANDLE);
    }
    let name = tidy_name(&request.name).unwrap_or_else(|| handle.clone());
    let role: String = invite.try_get(2)?;
    let member = become_member(transaction, MemberId(Uuid::now_v7())).await?;
    let inserted = transaction
        .execute_typed(
            INSERT,
            &[
                (&team.0, Type::UUID),
                (&member.0, Type::UUID),
                (&handle, Type::TEXT),
                (&name, Type::TEXT),
                (&role, Type::TEXT),
                (&now, Type::INT8),
            ],
        )
        .await
        .map_err(ServiceError::from);
    match inserted {
        Err(error) if error.is_duplicate() => Err(ServiceError::Refused(
            ErrorCode::HandleTaken,
            "another member has this handle; choose one with --handle",
        )),
        outcome => outcome.map(|_| member),
    }
}

async fn insert_device(
    transaction: &Transaction<'_>,
    request: &JoinRequest,
    team: TeamId,
    member: MemberId,
    now: i64,
) -> Result<DeviceId, ServiceError> {
    const INSERT: &str = "INSERT INTO claude_mem.devices (team, id, member, name, token_hash, created_at) \
        VALUES ($1, $2, $3, $4, $5, $6)";
    let device = DeviceId(Uuid::now_v7());
    let name = tidy_name(&request.device).unwrap_or_else(|| "machine".to_owned());
    let token = request.token.hash();
    let inserted = transaction
        .execute_typed(
            INSERT,
            &[
                (&team.0, Type::UUID),
                (&device.0, Type::UUID),
                (&member.0, Type::UUID),
                (&name, Type::TEXT),
                (&token.0.as_slice(), Type::BYTEA),
                (&now, Type::INT8),
            ],
        )
        .await
        .map_err(ServiceError::from);
    match inserted {
        Err(error) if error.is_duplicate() => Err(ServiceError::bad_request("the token is in use")),
        outcome => outcome.map(|_| device),
    }
}

async fn join_reply(
    transaction: &Transaction<'_>,
    team: TeamId,
    member: MemberId,
    device: DeviceId,
) -> Result<JoinReply, ServiceError> {
    const TEAM: &str = "SELECT name FROM claude_mem.teams WHERE id = $1";
    let name = transaction.query_typed_one(TEAM, &[(&team.0, Type::UUID)]).await?.try_get(0)?;
    let member: MemberInfo = read_member(transaction, team, member).await?.ok_or(INVALID)?;
    Ok(JoinReply { team: TeamInfo { id: team, name }, member, device })
}
