//! Push: sends the rows that were marked, with the text as it is now.

use std::collections::HashMap;

use crate::apply::{erase_taken_back, mark_of};
use crate::record_body::{BODY_FORMAT, outgoing_body};
use crate::server::TeamServer;
use crate::share_marks::KEEP_BACK;
use crate::share_rules::{ShareRules, ShareVerdict};
use crate::sharing_error::SharingError;
use crate::store_access::StoreAccess;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{PublicId, SpaceRowId};
use claude_mem_store::{ShareState, SharedRow, SpaceRow, StoreError, StoreReader, StoreWriter};
use claude_mem_wire::limits::{PUSH_BODY_BYTES_MAX, PUSH_RECORDS_MAX, RECORD_BODY_BYTES_MAX};
use claude_mem_wire::messages::{PushOutcome, PushReply, PushRequest};
use claude_mem_wire::{RecordBody, RecordKind, RecordUid, RefusalReason, SpaceId, WireRecord, rev_after};

/// Batches of one round; what is left waits for the next one.
const BATCHES_MAX: usize = 200;

/// Why a record is refused here that no server would take.
const TOO_LARGE: &str = "too large";
/// A shorter record is not what something on the way finds too large: it did not arrive in time.
const SMALL_BODY_BYTES: usize = 4 << 10;

/// A batch and what each of its records was made of.
struct PushBatch {
    request: PushRequest,
    sent: HashMap<RecordUid, SentRecord>,
    last: Option<PublicId>,
}

impl PushBatch {
    fn body_bytes(&self) -> usize {
        let bodies = self.request.records.iter().filter_map(|record| record.body.as_ref());
        bodies.map(|body| body.as_str().len()).sum()
    }
}

struct SentRecord {
    record: WireRecord,
    /// The row may no longer be shared: its removal was sent.
    is_kept_back: bool,
}

/// Counts of a push.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PushCounts {
    pub sent: u64,
    pub refused: u64,
    /// The member's records of this day are used up.
    pub quota_exceeded: bool,
}

/// Sends what is unsent in the space.
pub(crate) fn push_space(
    access: &impl StoreAccess,
    server: &impl TeamServer,
    space: SpaceRowId,
    rules: &ShareRules,
    now: Millis,
) -> Result<PushCounts, SharingError> {
    let mut counts = PushCounts::default();
    let (mut after, mut limit) = (None, PUSH_RECORDS_MAX);
    for _ in 0..BATCHES_MAX {
        // Removals are taken also when the quota of this day is used up.
        let choice = BatchChoice { after, limit, only_removals: counts.quota_exceeded };
        let (row, batch) = access.with_store(|store| {
            store.write(|tx| {
                let space = tx.space(space)?;
                let batch = collect_batch(tx, &space, &choice, rules, now)?;
                Ok((space, batch))
            })
        })?;
        let Some(last) = batch.last else { break };
        if batch.request.records.is_empty() {
            after = Some(last);
            continue;
        }
        let reply = match server.push(SpaceId(row.uid.0), &batch.request) {
            Err(error) if error.may_fit_if_smaller() && batch.request.records.len() > 1 => {
                limit = batch.request.records.len() / 2;
                continue;
            }
            // One record that does not get through must not hold up the others.
            Err(error) if error.is_too_large() && batch.body_bytes() > SMALL_BODY_BYTES => {
                refuse_batch(access, space, &batch, &mut counts, now)?;
                after = Some(last);
                continue;
            }
            reply => reply?,
        };
        check_reply(&batch, &reply)?;
        access.with_store(|store| {
            store.write(|tx| {
                reply.outcomes.iter().try_for_each(|outcome| {
                    settle(tx, space, outcome, &batch.sent[&outcome.uid], &mut counts, now)
                })
            })
        })?;
        after = Some(last);
    }
    Ok(counts)
}

/// Which records are sent next.
struct BatchChoice {
    after: Option<PublicId>,
    limit: usize,
    only_removals: bool,
}

/// Marks the records of a batch that nothing between here and the server lets through.
fn refuse_batch(
    access: &impl StoreAccess,
    space: SpaceRowId,
    batch: &PushBatch,
    counts: &mut PushCounts,
    now: Millis,
) -> Result<(), StoreError> {
    access.with_store(|store| {
        store.write(|tx| {
            for record in &batch.request.records {
                if let Some(share) = tx.shared_row(space, PublicId(record.uid.0))? {
                    refuse(tx, &share, TOO_LARGE, now)?;
                    counts.refused += 1;
                }
            }
            Ok(())
        })
    })
}

/// The response must name each record of the request once.
fn check_reply(batch: &PushBatch, reply: &PushReply) -> Result<(), SharingError> {
    let asked = batch.request.records.iter().map(|record| record.uid);
    let told = reply.outcomes.iter().map(|outcome| outcome.uid);
    if asked.eq(told) {
        Ok(())
    } else {
        Err(SharingError::InvalidAnswer("a push answered for other records"))
    }
}

/// The next records to send. Entries that need no sending are settled at once.
fn collect_batch(
    tx: &StoreWriter<'_>,
    space: &SpaceRow,
    choice: &BatchChoice,
    rules: &ShareRules,
    now: Millis,
) -> Result<PushBatch, StoreError> {
    let mut batch =
        PushBatch { request: PushRequest { records: Vec::new() }, sent: HashMap::new(), last: None };
    let limit = u32::try_from(choice.limit).unwrap_or(1);
    let mut bytes = 0;
    for share in tx.shared_rows_in(space.id, ShareState::Unsent, choice.after, limit)? {
        if !space.mode.sends() && share.row_id.is_some() {
            // Only removals leave a space that is not shared any more.
            batch.last = Some(share.uid);
            continue;
        }
        let prepared = prepare(tx, space, &share, rules, now)?;
        if choice.only_removals && prepared.as_ref().is_some_and(|sent| !sent.record.gone) {
            batch.last = Some(share.uid);
            continue;
        }
        let size = prepared
            .as_ref()
            .and_then(|sent| sent.record.body.as_ref())
            .map_or(0, |body| body.as_str().len());
        if bytes + size > PUSH_BODY_BYTES_MAX && !batch.request.records.is_empty() {
            break;
        }
        bytes += size;
        batch.last = Some(share.uid);
        match prepared {
            Some(sent) if size > RECORD_BODY_BYTES_MAX => {
                refuse(tx, &share, TOO_LARGE, now)?;
                drop(sent);
            }
            Some(sent) => {
                batch.request.records.push(sent.record.clone());
                batch.sent.insert(sent.record.uid, sent);
            }
            // The server never received it.
            None => tx.remove_shared_row(space.id, share.uid)?,
        }
    }
    Ok(batch)
}

fn prepare(
    reads: &StoreReader<'_>,
    space: &SpaceRow,
    share: &SharedRow,
    rules: &ShareRules,
    now: Millis,
) -> Result<Option<SentRecord>, StoreError> {
    let uid = RecordUid(share.uid.0);
    let kind = match share.kind {
        claude_mem_store::RowKind::Account => RecordKind::ACCOUNT,
        _ => RecordKind::OBSERVATION,
    };
    let body = match share.row() {
        Some(row) if !share.gone => outgoing_body(reads, space, row, rules)?,
        _ => None,
    };
    let may_leave =
        share.why != KEEP_BACK && body.as_ref().is_some_and(|body| body.verdict == ShareVerdict::MayLeave);
    if let Some(body) = body.filter(|_| may_leave) {
        let made_at = body.made_at.0;
        let json = RecordBody::from_json(body.json)?;
        let mut record = WireRecord::live(uid, body.kind, share.rev.max(1), made_at, BODY_FORMAT, json);
        if share.rev > 0 && record.hash.0[..] != share.hash[..] {
            record.rev = rev_after(share.rev);
        }
        return Ok(Some(SentRecord { record, is_kept_back: false }));
    }
    let is_kept_back = share.row_id.is_some();
    if share.rev == 0 && share.mark.is_none() && is_kept_back {
        return Ok(None);
    }
    let rev = if share.gone { share.rev } else { rev_after(share.rev) };
    let record = WireRecord::tombstone(uid, kind, rev.max(1), now.0, BODY_FORMAT);
    Ok(Some(SentRecord { record, is_kept_back }))
}

/// Takes the server's answer for one record.
fn settle(
    tx: &StoreWriter<'_>,
    space: SpaceRowId,
    outcome: &PushOutcome,
    sent: &SentRecord,
    counts: &mut PushCounts,
    now: Millis,
) -> Result<(), StoreError> {
    let Some(share) = tx.shared_row(space, PublicId(outcome.uid.0))?.filter(|share| share.member.is_none())
    else {
        return Ok(());
    };
    let version = sent.record.version();
    if outcome.stored == Some(version) {
        counts.sent += 1;
        // A removal that was noted meanwhile is still to be sent.
        let is_removed_since = !version.gone && share.row_id.is_none();
        let state = match () {
            () if is_removed_since => ShareState::Unsent,
            () if sent.is_kept_back => ShareState::Kept,
            () => ShareState::Sent,
        };
        return tx.put_shared_row(&SharedRow {
            rev: version.rev,
            hash: version.hash.0.to_vec(),
            gone: version.gone,
            mark: mark_of(outcome.uid, version),
            local_hash: version.hash.0.to_vec(),
            state,
            why: String::new(),
            at: now,
            ..share
        });
    }
    match outcome.refused {
        // A newer version from another machine of the user comes with the next pull.
        None => match outcome.stored.filter(|stored| stored.gone) {
            Some(gone) => erase_taken_back(tx, share, gone, now),
            None => Ok(()),
        },
        Some(RefusalReason::QuotaExceeded) => {
            counts.quota_exceeded = true;
            Ok(())
        }
        // Another member uses the id, or it stands in another space: the row gets a new one.
        Some(RefusalReason::UidTaken) => {
            tx.remove_shared_row(space, share.uid)?;
            // A record that the server held here before has moved into the space of its project.
            let has_moved = share.rev > 0;
            let Some(row) = share.row().filter(|_| !version.gone && !has_moved) else { return Ok(()) };
            let uid = tx.renew_public_id(row)?;
            tx.put_shared_row(&SharedRow::own(space, uid, row, ShareState::Unsent, now))
        }
        Some(reason) => {
            counts.refused += 1;
            let why = serde_json::to_value(reason)?;
            refuse(tx, &share, why.as_str().unwrap_or("unknown"), now)
        }
    }
}

fn refuse(tx: &StoreWriter<'_>, share: &SharedRow, why: &str, now: Millis) -> Result<(), StoreError> {
    tx.put_shared_row(&SharedRow {
        state: ShareState::Refused,
        why: why.to_owned(),
        at: now,
        ..share.clone()
    })
}
