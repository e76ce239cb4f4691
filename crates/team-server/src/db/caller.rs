//! [`Caller`]: the member and device of a request's token, and the request's transaction.

use claude_mem_wire::{
    DeviceId, ErrorCode, MemberId, MemberRole, SecretHash, ServerGeneration, TeamId, WriterIdentity,
};
use deadpool_postgres::{Object, Transaction};
use tokio_postgres::IsolationLevel;
use tokio_postgres::types::Type;

use super::role::ENTER_ROLE;
use crate::error::ServiceError;

/// The member and device of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) team: TeamId,
    pub(crate) member: MemberId,
    pub(crate) device: DeviceId,
    pub(crate) role: MemberRole,
    pub(crate) generation: ServerGeneration,
}

impl Caller {
    pub(crate) const fn writer(&self) -> WriterIdentity {
        WriterIdentity { member: self.member, role: self.role }
    }

    pub(crate) fn require_admin(&self) -> Result<(), ServiceError> {
        if self.role.may_administer() {
            Ok(())
        } else {
            Err(ServiceError::forbidden("only administrators may do this"))
        }
    }
}

/// Begins a transaction in the role that owns nothing. Nothing is visible yet.
pub(super) async fn begin(connection: &mut Object) -> Result<Transaction<'_>, ServiceError> {
    let transaction = connection.transaction().await?;
    transaction.batch_execute(ENTER_ROLE).await?;
    Ok(transaction)
}

/// Like [`begin`], for reading several tables as of one moment.
pub(crate) async fn begin_snapshot(connection: &mut Object) -> Result<Transaction<'_>, ServiceError> {
    let builder =
        connection.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    let transaction = builder.start().await?;
    transaction.batch_execute(ENTER_ROLE).await?;
    Ok(transaction)
}

/// Presents the hash of a token or of an invite's secret: its row becomes visible.
pub(super) async fn present(transaction: &Transaction<'_>, hash: &SecretHash) -> Result<(), ServiceError> {
    const PRESENT: &str = "SELECT set_config('claude_mem.presented', encode($1, 'hex'), true)";
    transaction.query_typed(PRESENT, &[(&hash.0.as_slice(), Type::BYTEA)]).await?;
    Ok(())
}

/// Finds the device of a token and sets the caller for the rest of the transaction.
pub(super) async fn authenticate(
    transaction: &Transaction<'_>,
    token: &SecretHash,
) -> Result<Caller, ServiceError> {
    const DEVICE: &str = "SELECT id, team, member, revoked_at IS NOT NULL, \
            set_config('claude_mem.team', team::text, true), \
            set_config('claude_mem.member', member::text, true) \
        FROM claude_mem.devices WHERE token_hash = $1";
    const MEMBER: &str = "SELECT m.role, m.left_at IS NOT NULL, t.generation, \
            set_config('claude_mem.role', m.role, true) \
        FROM claude_mem.members m JOIN claude_mem.teams t ON t.id = m.team \
        WHERE m.team = $1 AND m.id = $2";
    const REVOKED: ServiceError = ServiceError::Refused(ErrorCode::Revoked, "this device was revoked");
    const UNKNOWN: ServiceError = ServiceError::Refused(ErrorCode::Unauthorized, "the token is not known");

    present(transaction, token).await?;
    let device = transaction.query_typed_opt(DEVICE, &[(&token.0.as_slice(), Type::BYTEA)]).await?;
    let device = device.ok_or(UNKNOWN)?;
    if device.try_get(3)? {
        return Err(REVOKED);
    }
    let (team, member) = (TeamId(device.try_get(1)?), MemberId(device.try_get(2)?));
    let row = transaction.query_typed_opt(MEMBER, &[(&team.0, Type::UUID), (&member.0, Type::UUID)]).await?;
    let row = row.ok_or(UNKNOWN)?;
    if row.try_get(1)? {
        return Err(REVOKED);
    }
    let role = MemberRole::from_name(row.try_get(0)?).ok_or(UNKNOWN)?;
    let generation = ServerGeneration(row.try_get(2)?);
    Ok(Caller { team, member, device: DeviceId(device.try_get(0)?), role, generation })
}
