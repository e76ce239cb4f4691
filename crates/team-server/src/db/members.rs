//! Members and their devices.

use claude_mem_wire::messages::{DeviceInfo, MeReply, MemberInfo, MemberPatch, TeamInfo};
use claude_mem_wire::{DeviceId, ErrorCode, MemberId, MemberRole, TeamId, tidy_name};
use deadpool_postgres::Transaction;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::Caller;
use super::audit::write_audit;
use super::spaces::visible_spaces;
use crate::error::ServiceError;

/// `seen_at` of a device is written at most this often.
const SEEN_MILLIS: i64 = 60_000;

/// Everything that a client needs to know about its team.
pub(crate) async fn me(
    transaction: &Transaction<'_>,
    caller: &Caller,
    now: i64,
) -> Result<MeReply, ServiceError> {
    const TEAM: &str = "SELECT name FROM claude_mem.teams WHERE id = $1";
    const MEMBERS: &str = "SELECT id, handle, name, role, created_at, left_at FROM claude_mem.members \
        WHERE team = $1 ORDER BY id";
    const DEVICES: &str = "SELECT id, member, name, created_at, seen_at, revoked_at FROM claude_mem.devices \
        WHERE team = $1 ORDER BY id";
    let team = [(&caller.team.0 as &(dyn tokio_postgres::types::ToSql + Sync), Type::UUID)];
    let name = transaction.query_typed_one(TEAM, &team).await?.try_get(0)?;
    let members = transaction.query_typed(MEMBERS, &team).await?;
    let devices = transaction.query_typed(DEVICES, &team).await?;
    Ok(MeReply {
        team: TeamInfo { id: caller.team, name },
        member: caller.member,
        device: caller.device,
        role: caller.role,
        members: members.iter().map(member_info).collect::<Result<_, _>>()?,
        devices: devices.iter().map(device_info).collect::<Result<_, _>>()?,
        spaces: visible_spaces(transaction, caller).await?,
        generation: caller.generation,
        now,
    })
}

fn member_info(row: &Row) -> Result<MemberInfo, ServiceError> {
    Ok(MemberInfo {
        id: MemberId(row.try_get(0)?),
        handle: row.try_get(1)?,
        name: row.try_get(2)?,
        // The table's own check allows no other name.
        role: MemberRole::from_name(row.try_get(3)?).unwrap_or(MemberRole::Reader),
        created_at: row.try_get(4)?,
        left_at: row.try_get(5)?,
    })
}

fn device_info(row: &Row) -> Result<DeviceInfo, ServiceError> {
    Ok(DeviceInfo {
        id: DeviceId(row.try_get(0)?),
        member: MemberId(row.try_get(1)?),
        name: row.try_get(2)?,
        created_at: row.try_get(3)?,
        seen_at: row.try_get(4)?,
        revoked_at: row.try_get(5)?,
    })
}

pub(super) async fn read_member(
    transaction: &Transaction<'_>,
    team: TeamId,
    member: MemberId,
) -> Result<Option<MemberInfo>, ServiceError> {
    const FIND: &str = "SELECT id, handle, name, role, created_at, left_at FROM claude_mem.members \
        WHERE team = $1 AND id = $2";
    let row = transaction.query_typed_opt(FIND, &[(&team.0, Type::UUID), (&member.0, Type::UUID)]).await?;
    row.as_ref().map(member_info).transpose()
}

/// Changes a member's name or role, or revokes the member with all devices.
pub(crate) async fn patch_member(
    transaction: &Transaction<'_>,
    caller: &Caller,
    member: MemberId,
    patch: &MemberPatch,
    now: i64,
) -> Result<MemberInfo, ServiceError> {
    const LOCK: &str = "SELECT id FROM claude_mem.members WHERE team = $1 AND role = 'admin' FOR UPDATE";
    const UPDATE: &str =
        "UPDATE claude_mem.members SET name = $3, role = $4, left_at = $5 WHERE team = $1 AND id = $2";
    const ADMINS: &str = "SELECT count(*) FROM claude_mem.members \
        WHERE team = $1 AND role = 'admin' AND left_at IS NULL";
    const DEVICES: &str = "UPDATE claude_mem.devices SET revoked_at = $3 \
        WHERE team = $1 AND member = $2 AND revoked_at IS NULL";

    let is_administrative = patch.role.is_some() || patch.revoked;
    if is_administrative || member != caller.member {
        caller.require_admin()?;
        // Two administrators that revoke each other must not both succeed.
        transaction.query_typed(LOCK, &[(&caller.team.0, Type::UUID)]).await?;
    }
    let old = read_member(transaction, caller.team, member).await?;
    let old = old.filter(|old| old.left_at.is_none()).ok_or(ServiceError::not_found("no such member"))?;
    let name = patch.name.as_deref().map_or_else(|| Some(old.name.clone()), tidy_name);
    let name = name.ok_or(ServiceError::bad_request("the name is empty"))?;
    let role = patch.role.unwrap_or(old.role);
    let left_at = patch.revoked.then_some(now);
    let (team_id, member_id) = (&caller.team.0, &member.0);
    transaction
        .execute_typed(
            UPDATE,
            &[
                (team_id, Type::UUID),
                (member_id, Type::UUID),
                (&name, Type::TEXT),
                (&role.as_str(), Type::TEXT),
                (&left_at, Type::INT8),
            ],
        )
        .await?;
    if is_administrative {
        let admins = transaction.query_typed_one(ADMINS, &[(team_id, Type::UUID)]).await?;
        if admins.try_get::<_, i64>(0)? == 0 {
            let why = "the team would have no administrator; make somebody else one first";
            return Err(ServiceError::Refused(ErrorCode::LastAdmin, why));
        }
    }
    if patch.revoked {
        let revoked = [(team_id as _, Type::UUID), (member_id as _, Type::UUID), (&now as _, Type::INT8)];
        transaction.execute_typed(DEVICES, &revoked).await?;
        write_audit(transaction, caller, now, "revoke", &old.handle).await?;
    } else if role != old.role {
        let mut subject = old.handle.clone();
        subject.push(' ');
        subject.push_str(role.as_str());
        write_audit(transaction, caller, now, "role", &subject).await?;
    }
    Ok(MemberInfo { name, role, left_at, ..old })
}

/// Revokes a device: the caller's own, or any for an administrator.
pub(crate) async fn revoke_device(
    transaction: &Transaction<'_>,
    caller: &Caller,
    device: DeviceId,
    now: i64,
) -> Result<DeviceInfo, ServiceError> {
    // Only visible devices can be changed: the caller's own, or any for administrators.
    const REVOKE: &str = "UPDATE claude_mem.devices SET revoked_at = coalesce(revoked_at, $3) \
        WHERE team = $1 AND id = $2 RETURNING id, member, name, created_at, seen_at, revoked_at";
    let row = transaction
        .query_typed_opt(REVOKE, &[(&caller.team.0, Type::UUID), (&device.0, Type::UUID), (&now, Type::INT8)])
        .await?;
    let info = device_info(&row.ok_or(ServiceError::not_found("no such device"))?)?;
    write_audit(transaction, caller, now, "device", &info.name).await?;
    Ok(info)
}

/// Notes that the device was here, to the minute.
pub(crate) async fn mark_seen(
    transaction: &Transaction<'_>,
    caller: &Caller,
    now: i64,
) -> Result<(), ServiceError> {
    const SEEN: &str = "UPDATE claude_mem.devices SET seen_at = $3 \
        WHERE team = $1 AND id = $2 AND (seen_at IS NULL OR seen_at < $3 - $4 OR seen_at > $3)";
    transaction
        .execute_typed(
            SEEN,
            &[
                (&caller.team.0, Type::UUID),
                (&caller.device.0, Type::UUID),
                (&now, Type::INT8),
                (&SEEN_MILLIS, Type::INT8),
            ],
        )
        .await?;
    Ok(())
}
