//! [`retract_batch`]: makes an author's records gone, a bounded number at a time.

use claude_mem_wire::messages::{RetractRequest, SpaceState};
use claude_mem_wire::{RecordHash, RecordUid, RecordVersion, SpaceId, rev_after};
use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::Caller;
use super::audit::write_audit;
use super::members::read_member;
use super::push::record_version;
use super::spaces::space_state;
use super::write::write_state;
use crate::error::ServiceError;

/// Records of one transaction, so that a push into the space does not wait long.
const RETRACT_RECORDS_MAX: i64 = 1_000;

/// Removes the next records of one space. Returns the space, its new state and how many were removed; `None`
/// when none are left.
pub(crate) async fn retract_batch(
    transaction: &Transaction<'_>,
    caller: &Caller,
    request: &RetractRequest,
    is_first: bool,
    now: i64,
) -> Result<Option<(SpaceId, SpaceState, u64)>, ServiceError> {
    const SPACE: &str = "SELECT space FROM claude_mem.records \
        WHERE team = $1 AND author = $2 AND NOT gone AND received_at >= $3 AND ($4::uuid IS NULL OR space = $4) \
        ORDER BY space LIMIT 1";
    const LOCK: &str =
        "SELECT head, live, digest FROM claude_mem.spaces WHERE team = $1 AND id = $2 FOR UPDATE";
    const LIVE: &str = "SELECT uid, gone, rev, hash FROM claude_mem.records \
        WHERE team = $1 AND space = $2 AND author = $3 AND NOT gone AND received_at >= $4 \
        ORDER BY seq LIMIT $5";
    const REMOVE: &str = "UPDATE claude_mem.records r \
        SET seq = u.seq, rev = u.rev, hash = $5, gone = true, body = NULL, device = $3, received_at = $4 \
        FROM unnest($6::uuid[], $7::bigint[], $8::integer[]) AS u(uid, seq, rev) \
        WHERE r.team = $1 AND r.space = $2 AND r.uid = u.uid";

    if request.member != caller.member {
        caller.require_admin()?;
    }
    if !caller.role.may_write() {
        return Err(ServiceError::forbidden("readers have nothing to take back"));
    }
    if is_first {
        let author = read_member(transaction, caller.team, request.member).await?;
        let author = author.ok_or(ServiceError::not_found("no such member"))?;
        write_audit(transaction, caller, now, "retract", &author.handle).await?;
    }
    let (team, author) = (&caller.team.0, &request.member.0);
    let only = request.space.map(|space| space.0);
    let next = transaction
        .query_typed_opt(
            SPACE,
            &[(team, Type::UUID), (author, Type::UUID), (&request.since, Type::INT8), (&only, Type::UUID)],
        )
        .await?;
    let Some(next) = next else { return Ok(None) };
    let space = SpaceId(next.try_get(0)?);
    let row = transaction.query_typed_opt(LOCK, &[(team, Type::UUID), (&space.0, Type::UUID)]).await?;
    let mut state = space_state(&row.ok_or(ServiceError::not_found("no such space"))?, 0)?;
    let live = transaction
        .query_typed(
            LIVE,
            &[
                (team, Type::UUID),
                (&space.0, Type::UUID),
                (author, Type::UUID),
                (&request.since, Type::INT8),
                (&RETRACT_RECORDS_MAX, Type::INT8),
            ],
        )
        .await?;
    let (mut uids, mut seqs, mut revs) = (Vec::<Uuid>::new(), Vec::<i64>::new(), Vec::<i32>::new());
    for row in &live {
        let (uid, version) = (RecordUid(row.try_get(0)?), record_version(row, 1)?);
        let rev = rev_after(version.rev);
        state.head += 1;
        state.live = state.live.saturating_sub(1);
        state.digest = state.digest.after_change(uid, Some(version), Some(RecordVersion::tombstone(rev)));
        uids.push(uid.0);
        seqs.push(state.head);
        revs.push(rev.cast_signed());
    }
    transaction
        .execute_typed(
            REMOVE,
            &[
                (team, Type::UUID),
                (&space.0, Type::UUID),
                (&caller.device.0, Type::UUID),
                (&now, Type::INT8),
                (&RecordHash::TOMBSTONE.0.as_slice(), Type::BYTEA),
                (&uids, Type::UUID_ARRAY),
                (&seqs, Type::INT8_ARRAY),
                (&revs, Type::INT4_ARRAY),
            ],
        )
        .await?;
    write_state(transaction, caller, space, &state).await?;
    Ok(Some((space, state, uids.len() as u64)))
}
