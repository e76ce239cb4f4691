//! Pull: takes what is new at the server, and at first walks from the newest record back.

use crate::apply::{ApplyContext, ApplyOutcome, apply_record};
use crate::server::{RecordsQuery, TeamServer};
use crate::sharing_error::SharingError;
use crate::store_access::StoreAccess;
use claude_mem_core::ids::SpaceRowId;
use claude_mem_store::{SpaceRow, StoreError, StoreWriter};
use claude_mem_wire::limits::PAGE_RECORDS_MAX;
use claude_mem_wire::messages::{RecordsPage, SpaceState};
use claude_mem_wire::{PulledRecord, SpaceId};

/// Records that one transaction applies: hooks wait no longer, as with imports.
const APPLY_ROWS_MAX: usize = 32;
/// Pages of one round: an endless server gets no more of our time.
const PAGES_MAX: usize = 400;

/// Counts of a pull.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PullCounts {
    pub stored: u64,
    pub erased: u64,
    pub aside: u64,
}

impl PullCounts {
    pub(crate) fn count(&mut self, outcome: ApplyOutcome) {
        match outcome {
            ApplyOutcome::Unchanged => {}
            ApplyOutcome::Stored => self.stored += 1,
            ApplyOutcome::Erased => self.erased += 1,
            ApplyOutcome::Aside => self.aside += 1,
        }
    }
}

/// Takes everything above `high`. Returns the state of the server that this led to; `None`: there is more.
pub(crate) fn pull_new(
    access: &impl StoreAccess,
    server: &impl TeamServer,
    space: SpaceRowId,
    context: ApplyContext<'_>,
    counts: &mut PullCounts,
) -> Result<Option<(SpaceState, String)>, SharingError> {
    for _ in 0..PAGES_MAX {
        let row = access.with_store(|store| store.read().space(space))?;
        let page = server.records(SpaceId(row.uid.0), &RecordsQuery::After(row.high))?;
        check_page(&page, |records| {
            records.iter().all(|pulled| pulled.seq > row.high) && is_ascending(records)
        })?;
        apply_page(access, space, &page.records, context, counts, |tx, row, last| {
            tx.set_space_pulled(space, row.high.max(last), row.low, row.window)
        })?;
        if !page.more {
            // All numbers up to the head were examined, including those of other members' own spaces.
            let head = page.state.head;
            access.with_store(|store| {
                store.write(|tx| {
                    let row = tx.space(space)?;
                    tx.set_space_pulled(space, row.high.max(head.min(HEAD_MAX)), row.low, row.window)
                })
            })?;
            return Ok(Some((page.state, page.generation.to_string())));
        }
    }
    Ok(None)
}

/// A number that no server reaches; a greater head is not believed.
const HEAD_MAX: i64 = 1 << 52;

/// Walks from the newest record back, one page after the other. True once the walk is done.
pub(crate) fn walk_back(
    access: &impl StoreAccess,
    server: &impl TeamServer,
    space: SpaceRowId,
    context: ApplyContext<'_>,
    counts: &mut PullCounts,
) -> Result<bool, SharingError> {
    for _ in 0..PAGES_MAX {
        let row = access.with_store(|store| store.read().space(space))?;
        let Some(low) = row.low.filter(|_| row.window.is_none_or(|left| left > 0)) else { return Ok(true) };
        let page = server.records(SpaceId(row.uid.0), &RecordsQuery::Before(low))?;
        check_page(&page, |records| records.iter().all(|pulled| pulled.seq < low) && is_descending(records))?;
        apply_page(access, space, &page.records, context, counts, |tx, row, last| {
            tx.set_space_pulled(space, row.high, Some(last), row.window)
        })?;
        let taken = i64::try_from(page.records.len()).unwrap_or(0);
        access.with_store(|store| {
            store.write(|tx| {
                let row = tx.space(space)?;
                let low = row.low.filter(|_| page.more);
                tx.set_space_pulled(space, row.high, low, row.window.map(|left| (left - taken).max(0)))
            })
        })?;
    }
    Ok(false)
}

fn is_ascending(records: &[PulledRecord]) -> bool {
    records.windows(2).all(|pair| pair[0].seq < pair[1].seq)
}

fn is_descending(records: &[PulledRecord]) -> bool {
    records.windows(2).all(|pair| pair[0].seq > pair[1].seq)
}

/// Refuses a page that breaks the protocol as a whole: nothing of it is used.
pub(crate) fn check_page(
    page: &RecordsPage,
    is_in_order: impl FnOnce(&[PulledRecord]) -> bool,
) -> Result<(), SharingError> {
    if page.records.len() > PAGE_RECORDS_MAX {
        return Err(SharingError::InvalidAnswer("a page has too many records"));
    }
    if !is_in_order(&page.records) {
        return Err(SharingError::InvalidAnswer("a page is out of order"));
    }
    if page.more && page.records.is_empty() {
        return Err(SharingError::InvalidAnswer("an empty page promises more"));
    }
    if page.records.iter().any(|pulled| pulled.record.check().is_err()) {
        return Err(SharingError::InvalidAnswer("a record does not match its hash"));
    }
    Ok(())
}

/// Applies records in small transactions, each with the place it led to.
pub(crate) fn apply_page(
    access: &impl StoreAccess,
    space: SpaceRowId,
    records: &[PulledRecord],
    context: ApplyContext<'_>,
    counts: &mut PullCounts,
    reached: impl Fn(&StoreWriter<'_>, &SpaceRow, i64) -> Result<(), StoreError>,
) -> Result<(), SharingError> {
    for some in records.chunks(APPLY_ROWS_MAX) {
        let outcomes = access.with_store(|store| {
            store.write(|tx| {
                let row = tx.space(space)?;
                let outcomes = some.iter().map(|pulled| apply_record(tx, &row, pulled, context));
                let outcomes = outcomes.collect::<Result<Vec<_>, _>>()?;
                if let Some(last) = some.last() {
                    reached(tx, &row, last.seq)?;
                }
                Ok(outcomes)
            })
        })?;
        for outcome in outcomes {
            counts.count(outcome);
        }
    }
    Ok(())
}
