//! Taking back and leaving: removes own records from a space and others' rows from this machine.

use crate::apply::mark_of;
use crate::record_body::BODY_FORMAT;
use crate::server::TeamServer;
use crate::sharing_error::SharingError;
use crate::store_access::StoreAccess;
use crate::sync_engine::{SyncEngine, SyncOptions};
use crate::team_file::remove_team;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{MemberRowId, PublicId, SpaceRowId};
use claude_mem_core::paths::DataDir;
use claude_mem_store::{RowKind, ShareState, SharedRow, SpaceMode, Store};
use claude_mem_wire::messages::PushRequest;
use claude_mem_wire::{RecordKind, RecordUid, SpaceId, WireRecord, rev_after};

/// Records of one request, and rows of one transaction.
const TAKEN_BACK_MAX: u32 = 200;
const ERASED_ROWS_MAX: u32 = 32;

/// Takes all own records of these spaces back from everybody else and ends their sharing. The rows stay here. Returns how
/// many were taken back.
///
/// Nothing more leaves from the beginning on. A round finds what the server holds without this machine knowing it: the
/// answer to a push may have been lost.
pub fn take_back_spaces<A: StoreAccess, S: TeamServer>(
    engine: &SyncEngine<'_, A, S>,
    spaces: &[SpaceRowId],
    options: &SyncOptions,
) -> Result<u64, SharingError> {
    engine.access.with_store(|store| {
        store.write(|tx| {
            for space in spaces {
                if tx.space(*space)?.mode.sends() {
                    tx.set_space_mode(*space, SpaceMode::Receive)?;
                }
            }
            Ok(())
        })
    })?;
    match engine.round(options) {
        // What one space lacks for a round, such as an undamaged page, is not needed for taking back the rest.
        Ok(_) | Err(SharingError::InvalidAnswer(_) | SharingError::Refused { .. }) => {}
        Err(error) => return Err(error),
    }
    let mut taken_back = 0;
    for space in spaces {
        taken_back += take_back_own(engine.access, engine.server, *space, options.now)?;
    }
    engine.access.with_store(|store| {
        store.write(|tx| spaces.iter().try_for_each(|space| tx.set_space_mode(*space, SpaceMode::Off)))
    })?;
    Ok(taken_back)
}

/// Takes all own records of a space back that the server is known to hold.
fn take_back_own(
    access: &impl StoreAccess,
    server: &impl TeamServer,
    space: SpaceRowId,
    now: Millis,
) -> Result<u64, SharingError> {
    let uid = SpaceId(access.with_store(|store| store.read().space(space))?.uid.0);
    let (mut after, mut taken_back): (Option<PublicId>, u64) = (None, 0);
    loop {
        let rows = access.with_store(|store| store.read().shared_rows_after(space, after, TAKEN_BACK_MAX))?;
        let Some(last) = rows.last().map(|share| share.uid) else { return Ok(taken_back) };
        after = Some(last);
        let own: Vec<&SharedRow> =
            rows.iter().filter(|share| share.member.is_none() && share.rev > 0 && !share.gone).collect();
        if own.is_empty() {
            continue;
        }
        let records = own.iter().map(|share| {
            let kind =
                if share.kind == RowKind::Account { RecordKind::ACCOUNT } else { RecordKind::OBSERVATION };
            WireRecord::tombstone(RecordUid(share.uid.0), kind, rev_after(share.rev), now.0, BODY_FORMAT)
        });
        let request = PushRequest { records: records.collect() };
        let reply = server.push(uid, &request)?;
        if reply.outcomes.len() != own.len() {
            return Err(SharingError::InvalidAnswer("a push answered for other records"));
        }
        access.with_store(|store| {
            store.write(|tx| {
                for ((share, record), outcome) in own.iter().zip(&request.records).zip(&reply.outcomes) {
                    let Some(stored) = outcome.stored.filter(|stored| stored.gone) else { continue };
                    taken_back += 1;
                    tx.put_shared_row(&SharedRow {
                        rev: stored.rev,
                        hash: stored.hash.0.to_vec(),
                        gone: true,
                        mark: mark_of(record.uid, stored),
                        state: ShareState::Kept,
                        at: now,
                        ..(*share).clone()
                    })?;
                }
                Ok(())
            })
        })?;
    }
}

/// Removes one record for everybody. False if the server does not allow it.
pub fn remove_record(
    access: &impl StoreAccess,
    server: &impl TeamServer,
    share: &SharedRow,
    now: Millis,
) -> Result<bool, SharingError> {
    let space = SpaceId(access.with_store(|store| store.read().space(share.space))?.uid.0);
    let kind = if share.kind == RowKind::Account { RecordKind::ACCOUNT } else { RecordKind::OBSERVATION };
    let rev = rev_after(share.rev);
    let record = WireRecord::tombstone(RecordUid(share.uid.0), kind, rev, now.0, BODY_FORMAT);
    let reply = server.push(space, &PushRequest { records: vec![record] })?;
    Ok(reply.outcomes.first().and_then(|outcome| outcome.stored).is_some_and(|stored| stored.gone))
}

/// Erases the rows of a member, or of all members, from this machine. Returns how many there were.
pub fn erase_others(access: &impl StoreAccess, member: Option<MemberRowId>) -> Result<u64, SharingError> {
    let mut erased = 0;
    loop {
        let some = access.with_store(|store| store.write(|tx| tx.erase_rows_of(member, ERASED_ROWS_MAX)))?;
        if some == 0 {
            return Ok(erased);
        }
        erased += some as u64;
    }
}

/// Whether the server holds live records of the user in the space.
pub fn has_own_records(access: &impl StoreAccess, space: SpaceRowId) -> Result<bool, SharingError> {
    let mut after = None;
    loop {
        let rows = access.with_store(|store| store.read().shared_rows_after(space, after, TAKEN_BACK_MAX))?;
        let Some(last) = rows.last() else { return Ok(false) };
        if rows.iter().any(|share| share.member.is_none() && share.rev > 0 && !share.gone) {
            return Ok(true);
        }
        after = Some(last.uid);
    }
}

/// Forgets a space, and erases the rows that others shared in it.
pub fn forget_space(access: &impl StoreAccess, space: SpaceRowId) -> Result<(), SharingError> {
    let mut after = None;
    loop {
        let last = access.with_store(|store| {
            store.write(|tx| {
                let rows = tx.shared_rows_after(space, after, ERASED_ROWS_MAX)?;
                for row in rows.iter().filter(|share| share.member.is_some()).filter_map(SharedRow::row) {
                    tx.erase_team_row(row)?;
                }
                Ok(rows.last().map(|share| share.uid))
            })
        })?;
        match last {
            Some(last) => after = Some(last),
            None => return Ok(access.with_store(|store| store.write(|tx| tx.remove_space(space)))?),
        }
    }
}

/// Forgets the team: its spaces and members. Rows of others must be erased before, or stay with their names.
pub fn forget_team(access: &impl StoreAccess) -> Result<(), SharingError> {
    Ok(access.with_store(|store| {
        store.write(|tx| {
            for space in tx.spaces()? {
                tx.remove_space(space.id)?;
            }
            tx.remove_members()
        })
    })?)
}

/// Purges a machine that was removed from its team: others' rows, the team and its token go, own rows stay.
pub fn purge_team(access: &impl StoreAccess, dir: &DataDir) -> Result<(), SharingError> {
    erase_others(access, None)?;
    forget_team(access)?;
    // At last: with the token, a purge that was cut short is begun again.
    remove_team(dir)?;
    Ok(access.with_store(Store::clear_deleted_from_log)?)
}
