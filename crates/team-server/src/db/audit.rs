//! The audit log: joins, invites, roles, spaces, revocations and retractions.

use claude_mem_wire::messages::{AuditEntry, AuditPage};
use claude_mem_wire::{AuditId, DeviceId, MemberId};
use deadpool_postgres::Transaction;
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::Caller;
use crate::error::ServiceError;

/// Adds to the audit log.
pub(super) async fn write_audit(
    transaction: &Transaction<'_>,
    caller: &Caller,
    now: i64,
    action: &str,
    subject: &str,
) -> Result<(), ServiceError> {
    const INSERT: &str = "INSERT INTO claude_mem.audit (team, id, at, member, device, action, subject) \
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    transaction
        .execute_typed(
            INSERT,
            &[
                (&caller.team.0, Type::UUID),
                (&Uuid::now_v7(), Type::UUID),
                (&now, Type::INT8),
                (&caller.member.0, Type::UUID),
                (&caller.device.0, Type::UUID),
                (&action, Type::TEXT),
                (&subject, Type::TEXT),
            ],
        )
        .await?;
    Ok(())
}

/// A page of the audit log, newest first.
pub(crate) async fn audit_page(
    transaction: &Transaction<'_>,
    caller: &Caller,
    before: Option<AuditId>,
    limit: usize,
) -> Result<AuditPage, ServiceError> {
    const PAGE: &str = "SELECT id, at, member, device, action, subject FROM claude_mem.audit \
        WHERE team = $1 AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3";
    caller.require_admin()?;
    let before = before.map(|id| id.0);
    let one_more = limit as i64 + 1;
    let rows = transaction
        .query_typed(PAGE, &[(&caller.team.0, Type::UUID), (&before, Type::UUID), (&one_more, Type::INT8)])
        .await?;
    let entry = |row: &Row| -> Result<AuditEntry, ServiceError> {
        Ok(AuditEntry {
            id: AuditId(row.try_get(0)?),
            at: row.try_get(1)?,
            member: row.try_get::<_, Option<Uuid>>(2)?.map(MemberId),
            device: row.try_get::<_, Option<Uuid>>(3)?.map(DeviceId),
            action: row.try_get(4)?,
            subject: row.try_get(5)?,
        })
    };
    let entries = rows.iter().take(limit).map(entry).collect::<Result<_, _>>()?;
    Ok(AuditPage { entries, more: rows.len() > limit })
}
