//! [`push`]: stores a batch of records in a space.
//!
//! The row lock on the space gives numbers in commit order, so that a reader that has seen a number has seen
//! all smaller ones. Which version wins is decided by [`judge_offer`], the same function that clients use.

use std::collections::{BTreeMap, BTreeSet};

use claude_mem_wire::messages::{PushOutcome, PushReply, SpaceState};
use claude_mem_wire::{
    MemberId, OfferVerdict, RecordHash, RecordUid, RecordVersion, RefusalReason, SpaceId, StoredCopy,
    WireRecord, judge_offer,
};
use deadpool_postgres::Transaction;
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::Caller;
use super::spaces::space_state;
use super::usage::{count_usage, remaining_quota};
use super::write::{RecordColumns, insert_records, update_records, write_state};
use crate::error::ServiceError;

/// A space that is locked until the transaction ends.
struct LockedSpace {
    owner: Option<MemberId>,
    state: SpaceState,
    changed: bool,
}

/// Stores what is newer than what is there, and says for each record what is there now.
pub(crate) async fn push(
    transaction: &Transaction<'_>,
    caller: &Caller,
    space: SpaceId,
    records: &[WireRecord],
    now: i64,
) -> Result<PushReply, ServiceError> {
    if !caller.role.may_write() {
        return Err(ServiceError::forbidden("readers do not share"));
    }
    let uids: Vec<Uuid> = records.iter().map(|record| record.uid.0).collect();
    let mut locked = lock_spaces(transaction, caller, space, &uids).await?;
    let stored = stored_copies(transaction, caller, &uids).await?;
    let owner = locked.get(&space).ok_or(ServiceError::not_found("no such space"))?.owner;
    let mut quota = remaining_quota(transaction, caller, now).await?.records;

    let mut outcomes = Vec::with_capacity(records.len());
    let mut seen = BTreeSet::new();
    let (mut inserts, mut updates) = (RecordColumns::default(), RecordColumns::default());
    let mut head = locked.get(&space).map_or(0, |target| target.state.head);
    let mut counted = 0;
    for record in records {
        let old = stored.get(&record.uid);
        // Another space's copy is known to this member only if it is the own space's.
        let is_known = old.is_none_or(|old| locked.contains_key(&old.space));
        let verdict = if !seen.insert(record.uid) {
            OfferVerdict::Refuse(RefusalReason::Malformed)
        } else if let Err(reason) = record.check() {
            OfferVerdict::Refuse(reason)
        } else if owner.is_none() && record.kind.is_only_for_own_space() {
            OfferVerdict::Refuse(RefusalReason::KindNotShared)
        } else if is_known {
            judge_offer(caller.writer(), space, record.version(), record.v, old)
        } else {
            OfferVerdict::Refuse(RefusalReason::UidTaken)
        };
        let in_space = old.filter(|old| old.space == space).map(|old| old.version);
        outcomes.push(match verdict {
            OfferVerdict::Take if quota == 0 && !takes_back(record, old) => {
                refused(record.uid, in_space, RefusalReason::QuotaExceeded)
            }
            OfferVerdict::Take => {
                if !takes_back(record, old) {
                    quota -= 1;
                    counted += 1;
                }
                head += 1;
                let columns = if old.is_some() { &mut updates } else { &mut inserts };
                columns.add(record, head);
                PushOutcome { uid: record.uid, stored: Some(record.version()), refused: None }
            }
            OfferVerdict::KeepStored => PushOutcome { uid: record.uid, stored: in_space, refused: None },
            OfferVerdict::Refuse(reason) => refused(record.uid, in_space, reason),
        });
    }

    let inserted = insert_records(transaction, caller, space, owner, &inserts, now).await?;
    let updated = update_records(transaction, caller, space, owner, &updates, now).await?;
    let written: BTreeSet<Uuid> = inserted.into_iter().chain(updated).collect();
    for (record, outcome) in records.iter().zip(&mut outcomes) {
        let was_taken = outcome.refused.is_none() && outcome.stored == Some(record.version());
        let old = stored.get(&record.uid);
        if !was_taken || old.is_some_and(|old| old.space == space && old.version == record.version()) {
            continue;
        }
        if written.contains(&record.uid.0) {
            apply_change(&mut locked, space, record, old);
        } else {
            // The id exists where this member cannot see it.
            *outcome = refused(record.uid, None, RefusalReason::UidTaken);
        }
    }
    if let Some(target) = locked.get_mut(&space) {
        target.changed |= head > target.state.head;
        target.state.head = head;
    }
    for (id, changed) in locked.iter().filter(|(_, space)| space.changed) {
        write_state(transaction, caller, *id, &changed.state).await?;
    }
    count_usage(transaction, caller, now, counted, 0).await?;
    let state = locked.get(&space).map_or_else(SpaceState::default, |target| target.state);
    Ok(PushReply { outcomes, state, generation: caller.generation })
}

/// Whether a live record is removed, which is always possible. Other removals count like records: without an end, they
/// would fill the table and every member's machine.
fn takes_back(record: &WireRecord, old: Option<&StoredCopy>) -> bool {
    record.gone && old.is_some_and(|old| !old.version.gone)
}

const fn refused(uid: RecordUid, stored: Option<RecordVersion>, reason: RefusalReason) -> PushOutcome {
    PushOutcome { uid, stored, refused: Some(reason) }
}

/// Updates counts and digests of the target, and of the space that a record came from.
fn apply_change(
    locked: &mut BTreeMap<SpaceId, LockedSpace>,
    into: SpaceId,
    record: &WireRecord,
    old: Option<&StoredCopy>,
) {
    let from = old.filter(|old| old.space != into);
    if let (Some(from), Some(source)) = (from, from.and_then(|from| locked.get_mut(&from.space))) {
        source.state.digest = source.state.digest.after_change(record.uid, Some(from.version), None);
        source.state.live = source.state.live.saturating_sub(u64::from(!from.version.gone));
        source.changed = true;
    }
    if let Some(target) = locked.get_mut(&into) {
        let before = old.filter(|old| old.space == into).map(|old| old.version);
        let was_live = before.is_some_and(|version| !version.gone);
        let state = &mut target.state;
        state.digest = state.digest.after_change(record.uid, before, Some(record.version()));
        state.live = state.live.saturating_sub(u64::from(was_live)) + u64::from(!record.gone);
        target.changed = true;
    }
}

/// Locks the space and, if one of the records lies in the member's own space, that one too; always in the
/// order of their ids, so that no two pushes wait for each other.
async fn lock_spaces(
    transaction: &Transaction<'_>,
    caller: &Caller,
    space: SpaceId,
    uids: &[Uuid],
) -> Result<BTreeMap<SpaceId, LockedSpace>, ServiceError> {
    const SOURCES: &str = "SELECT DISTINCT space FROM claude_mem.records \
        WHERE team = $1 AND uid = ANY($2) AND space <> $3 AND owner = $4";
    const LOCK: &str = "SELECT id, owner, head, live, digest FROM claude_mem.spaces \
        WHERE team = $1 AND id = ANY($2) ORDER BY id FOR UPDATE";
    let sources = transaction
        .query_typed(
            SOURCES,
            &[
                (&caller.team.0, Type::UUID),
                (&uids, Type::UUID_ARRAY),
                (&space.0, Type::UUID),
                (&caller.member.0, Type::UUID),
            ],
        )
        .await?;
    let mut ids = vec![space.0];
    for row in &sources {
        ids.push(row.try_get(0)?);
    }
    let rows =
        transaction.query_typed(LOCK, &[(&caller.team.0, Type::UUID), (&ids, Type::UUID_ARRAY)]).await?;
    let locked = |row: &Row| -> Result<(SpaceId, LockedSpace), ServiceError> {
        let owner = row.try_get::<_, Option<Uuid>>(1)?.map(MemberId);
        Ok((SpaceId(row.try_get(0)?), LockedSpace { owner, state: space_state(row, 2)?, changed: false }))
    };
    rows.iter().map(locked).collect()
}

/// The copies of these records that the member can see.
async fn stored_copies(
    transaction: &Transaction<'_>,
    caller: &Caller,
    uids: &[Uuid],
) -> Result<BTreeMap<RecordUid, StoredCopy>, ServiceError> {
    const STORED: &str = "SELECT uid, space, owner IS NOT NULL, author, format, gone, rev, hash \
        FROM claude_mem.records WHERE team = $1 AND uid = ANY($2)";
    let rows =
        transaction.query_typed(STORED, &[(&caller.team.0, Type::UUID), (&uids, Type::UUID_ARRAY)]).await?;
    let copy = |row: &Row| -> Result<(RecordUid, StoredCopy), ServiceError> {
        let stored = StoredCopy {
            version: record_version(row, 5)?,
            v: row.try_get::<_, i16>(4)?.cast_unsigned(),
            author: MemberId(row.try_get(3)?),
            space: SpaceId(row.try_get(1)?),
            in_own_space: row.try_get(2)?,
        };
        Ok((RecordUid(row.try_get(0)?), stored))
    };
    rows.iter().map(copy).collect()
}

/// `gone`, `rev` and `hash` in columns that begin with `first`.
pub(super) fn record_version(row: &Row, first: usize) -> Result<RecordVersion, ServiceError> {
    let hash: &[u8] = row.try_get(first + 2)?;
    Ok(RecordVersion {
        gone: row.try_get(first)?,
        rev: row.try_get::<_, i32>(first + 1)?.cast_unsigned(),
        // A hash of another length was not written by us; it equals no version, so it is replaced.
        hash: hash.try_into().map_or(RecordHash::TOMBSTONE, RecordHash),
    })
}
