//! Reconcile: compares every name with the server's and mends what differs. Heals a restored backup, a
//! failover that gave numbers again, and any mistake of ours.

use std::collections::HashMap;

use crate::apply::{ApplyContext, mark_of, version_of, was_not_understood};
use crate::pull::{PullCounts, apply_page, check_page};
use crate::server::{RecordsQuery, TeamServer};
use crate::share_marks::SERVER_LACKS;
use crate::sharing_error::SharingError;
use crate::store_access::StoreAccess;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{PublicId, SpaceRowId};
use claude_mem_store::{ShareState, SharedRow, StoreError, StoreWriter};
use claude_mem_wire::limits::{PAGE_NAMES_MAX, PAGE_UIDS_MAX};
use claude_mem_wire::messages::SpaceState;
use claude_mem_wire::{MemberId, RecordName, RecordUid, SpaceId};

/// Names that are compared at once; a server with more is not believed.
const NAMES_MAX: usize = 5_000_000;
/// Records that one transaction compares.
const COMPARE_ROWS_MAX: u32 = 500;
/// Others' rows that the server lacks are kept this long.
const ASIDE_DAYS_MAX: i64 = 30;
const DAY_SECONDS: i64 = 24 * 3_600;

/// Counts of a reconciliation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReconcileCounts {
    pub fetched: u64,
    pub to_send: u64,
    pub set_aside: u64,
    pub pulled: PullCounts,
}

/// Compares and mends one space.
pub(crate) fn reconcile_space(
    access: &impl StoreAccess,
    server: &impl TeamServer,
    space: SpaceRowId,
    context: ApplyContext<'_>,
) -> Result<ReconcileCounts, SharingError> {
    let uid = SpaceId(access.with_store(|store| store.read().space(space))?.uid.0);
    let (names, state, generation) = all_names(server, uid)?;
    let mut counts = ReconcileCounts::default();
    let mut fetch = compare_known(access, space, &names, context, &mut counts)?;
    // What is left is not known here at all.
    let mut known = Vec::new();
    access.with_store(|store| {
        for name in names.values() {
            if store.read().shared_row(space, PublicId(name.uid.0))?.is_none() {
                known.push(name.uid);
            }
        }
        Ok(())
    })?;
    fetch.extend(known);
    counts.fetched += fetch_named(access, server, space, &fetch, context, &mut counts.pulled)?;
    access.with_store(|store| {
        store.write(|tx| {
            // Changes since the first name was read have greater numbers.
            tx.set_space_pulled(space, state.head.max(0), None, None)?;
            tx.set_space_compared(space, 0, &generation)
        })
    })?;
    Ok(counts)
}

/// Fetches these records and takes them, whatever is known of them here. Returns how many there are.
fn fetch_named(
    access: &impl StoreAccess,
    server: &impl TeamServer,
    space: SpaceRowId,
    uids: &[RecordUid],
    context: ApplyContext<'_>,
    counts: &mut PullCounts,
) -> Result<u64, SharingError> {
    let uid = SpaceId(access.with_store(|store| store.read().space(space))?.uid.0);
    let mut fetched = 0;
    for some in uids.chunks(PAGE_UIDS_MAX) {
        let page = server.records(uid, &RecordsQuery::Named(some.to_vec()))?;
        check_page(&page, |records| {
            records.iter().all(|pulled| some.contains(&pulled.record.uid)) && records.len() <= some.len()
        })?;
        fetched += page.records.len() as u64;
        let forced = ApplyContext { is_forced: true, ..context };
        apply_page(access, space, &page.records, forced, counts, |_, _, _| Ok(()))?;
    }
    Ok(fetched)
}

/// Fetches again what an older version of this program did not understand.
pub(crate) fn retry_not_understood(
    access: &impl StoreAccess,
    server: &impl TeamServer,
    space: SpaceRowId,
    context: ApplyContext<'_>,
    counts: &mut PullCounts,
) -> Result<(), SharingError> {
    let mut after = None;
    loop {
        let rows = access.with_store(|store| {
            store.read().shared_rows_in(space, ShareState::Aside, after, COMPARE_ROWS_MAX)
        })?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = Some(last.uid);
        let uids: Vec<RecordUid> = rows
            .iter()
            .filter(|share| was_not_understood(share))
            .map(|share| RecordUid(share.uid.0))
            .collect();
        fetch_named(access, server, space, &uids, context, counts)?;
    }
}

/// How many records of a space differ between this machine and the server. Changes nothing.
pub fn count_differences(
    access: &impl StoreAccess,
    server: &impl TeamServer,
    space: SpaceRowId,
) -> Result<u64, SharingError> {
    let uid = SpaceId(access.with_store(|store| store.read().space(space))?.uid.0);
    let (mut names, _, _) = all_names(server, uid)?;
    let (mut differing, mut after) = (0, None);
    loop {
        let rows =
            access.with_store(|store| store.read().shared_rows_after(space, after, COMPARE_ROWS_MAX))?;
        let Some(last) = rows.last() else { break };
        after = Some(last.uid);
        for share in &rows {
            let is_same = match names.remove(&RecordUid(share.uid.0)) {
                Some(name) => share.mark == mark_of(name.uid, name.version()),
                None => share.mark.is_none(),
            };
            differing += u64::from(!is_same);
        }
    }
    Ok(differing + names.values().filter(|name| !name.gone).count() as u64)
}

type NamesByUid = HashMap<RecordUid, RecordName>;

fn all_names(
    server: &impl TeamServer,
    space: SpaceId,
) -> Result<(NamesByUid, SpaceState, String), SharingError> {
    let mut names: NamesByUid = HashMap::new();
    let mut after: Option<RecordUid> = None;
    let mut first: Option<(SpaceState, String)> = None;
    loop {
        let page = server.names(space, after)?;
        let is_in_order = page.names.windows(2).all(|pair| pair[0].uid < pair[1].uid)
            && page.names.first().is_none_or(|name| after.is_none_or(|after| name.uid > after));
        if !is_in_order || page.names.len() > PAGE_NAMES_MAX || (page.more && page.names.is_empty()) {
            return Err(SharingError::InvalidAnswer("the names of a space are out of order"));
        }
        first.get_or_insert((page.state, page.generation.to_string()));
        after = page.names.last().map(|name| name.uid).or(after);
        names.extend(page.names.into_iter().map(|name| (name.uid, name)));
        if names.len() > NAMES_MAX {
            return Err(SharingError::InvalidAnswer("a space has too many names"));
        }
        if !page.more {
            let (state, generation) = first.unwrap_or_default();
            return Ok((names, state, generation));
        }
    }
}

/// Compares all records that are known here. Returns those to fetch.
fn compare_known(
    access: &impl StoreAccess,
    space: SpaceRowId,
    names: &NamesByUid,
    context: ApplyContext<'_>,
    counts: &mut ReconcileCounts,
) -> Result<Vec<RecordUid>, SharingError> {
    let mut fetch = Vec::new();
    let mut after = None;
    loop {
        let last = access.with_store(|store| {
            store.write(|tx| {
                let rows = tx.shared_rows_after(space, after, COMPARE_ROWS_MAX)?;
                for share in &rows {
                    let name = names.get(&RecordUid(share.uid.0));
                    if compare_one(tx, share, name, context, counts)? {
                        fetch.push(RecordUid(share.uid.0));
                    }
                }
                Ok(rows.last().map(|share| share.uid))
            })
        })?;
        match last {
            Some(last) => after = Some(last),
            None => return Ok(fetch),
        }
    }
}

/// Compares one record. True if the server's version is to be fetched.
fn compare_one(
    tx: &StoreWriter<'_>,
    share: &SharedRow,
    name: Option<&RecordName>,
    context: ApplyContext<'_>,
    counts: &mut ReconcileCounts,
) -> Result<bool, StoreError> {
    let mark = name.and_then(|name| mark_of(name.uid, name.version()));
    let is_own = is_own(share, name, context.me);
    match name {
        Some(name) if share.rev > 0 && version_of(share) == name.version() => {
            if share.mark != mark || (share.state == ShareState::Aside && share.why == SERVER_LACKS) {
                let state = if is_own { ShareState::Sent } else { ShareState::Received };
                let state = if share.state == ShareState::Aside { state } else { share.state };
                tx.put_shared_row(&SharedRow { mark, state, why: String::new(), ..share.clone() })?;
            }
            Ok(false)
        }
        Some(name) if share.rev == 0 || version_of(share) < name.version() => Ok(true),
        // The server has an older version of ours, or does not know that it was taken back. Others may still
        // hold a record that a restored server lacks, so a removal is sent again as well.
        Some(_) | None if is_own => {
            let waits = matches!(share.state, ShareState::Held | ShareState::Kept | ShareState::Refused);
            if waits && !share.gone {
                // The user's word is asked for before it is sent again.
                if share.mark != mark {
                    tx.put_shared_row(&SharedRow { mark, ..share.clone() })?;
                }
                return Ok(false);
            }
            counts.to_send += 1;
            let state = ShareState::Unsent;
            tx.put_shared_row(&SharedRow { state, mark, at: context.now, ..share.clone() })?;
            Ok(false)
        }
        // A retracted record stays retracted here, even if the server still has it.
        Some(_) if share.gone => {
            tx.put_shared_row(&SharedRow { mark, ..share.clone() })?;
            Ok(false)
        }
        Some(_) => Ok(true),
        None => {
            set_aside(tx, share, context.now, counts)?;
            Ok(false)
        }
    }
}

fn is_own(share: &SharedRow, name: Option<&RecordName>, me: MemberId) -> bool {
    share.member.is_none() && name.is_none_or(|name| name.author == me)
}

/// Another's record that the server lacks: kept for a while, because its author may send it again.
fn set_aside(
    tx: &StoreWriter<'_>,
    share: &SharedRow,
    now: Millis,
    counts: &mut ReconcileCounts,
) -> Result<(), StoreError> {
    if share.state != ShareState::Aside || share.why != SERVER_LACKS {
        counts.set_aside += u64::from(!share.gone);
        return tx.put_shared_row(&SharedRow {
            state: ShareState::Aside,
            why: SERVER_LACKS.to_owned(),
            mark: None,
            at: now,
            ..share.clone()
        });
    }
    let is_over = share.at.plus_seconds(ASIDE_DAYS_MAX * DAY_SECONDS) < now;
    match share.row().filter(|_| is_over) {
        Some(row) => {
            tx.erase_team_row(row)?;
            tx.put_shared_row(&SharedRow { row_id: None, ..share.clone() })
        }
        None => Ok(()),
    }
}
