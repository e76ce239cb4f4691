//! Enqueues events: from the hook into the spool, and from the spool into the queue.
//!
//! [`enqueue_event`] writes a [`SpoolEntry`]; [`drain_spool`] and [`drain_spool_briefly`] move spool
//! entries into the database, one transaction per batch.
//!
//! Invariant: when [`enqueue_event`] returns `Ok`, the event is on disk and survives the end of this
//! process. A spool file is removed only after the transaction that enqueues its entry; a crash in
//! between enqueues the entry again, which its key makes harmless, and never loses it.

use std::borrow::Cow;
use std::io;
use std::time::{Duration, Instant};

use crate::hook_database::HookDatabase;
use crate::spool::{self, PendingEntry, SpoolEntry};
use claude_mem_core::clock::{Micros, Millis};
use claude_mem_core::event::{Event, EventKey};
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::paths::DataDir;
use claude_mem_store::{Inbox, Store, StoreError};

/// Milliseconds after which a hook that drains the spool starts no further batch.
const SPOOL_PER_HOOK_MS: u64 = 20;

/// Maximum spooled events that are moved into the queue in one transaction.
pub(crate) const SPOOL_BATCH_MAX: usize = 64;

/// Neither the spool nor the database accepted the event.
#[derive(Debug, thiserror::Error)]
#[error("event lost: spool: {spool}; database: {database}")]
pub struct EventLostError {
    pub spool: io::Error,
    pub database: StoreError,
}

/// Enqueues one event.
pub fn enqueue_event(
    database: &mut HookDatabase<'_>,
    key: EventKey,
    event: &Event,
) -> Result<(), EventLostError> {
    let entry = SpoolEntry::Event(key, Cow::Borrowed(event));
    spool_or_enqueue(database, event.at, &entry)
}

/// Enqueues the request to ignore a session.
pub fn ignore_session(
    database: &mut HookDatabase<'_>,
    client: &str,
    session: &ClientSessionId,
    at: Micros,
) -> Result<(), EventLostError> {
    let entry = SpoolEntry::Ignore(client.to_owned(), session.clone());
    spool_or_enqueue(database, at, &entry)
}

/// Writes the entry to the spool, or directly to the database if no file can be created: the
/// database file may still have free pages.
fn spool_or_enqueue(
    database: &mut HookDatabase<'_>,
    at: Micros,
    entry: &SpoolEntry<'_>,
) -> Result<(), EventLostError> {
    let Err(spool) = spool::write_entry(database.dir(), at, entry) else {
        return Ok(());
    };
    let taken = database.writable_patiently().and_then(|inbox| inbox.enqueue(&[entry], at.millis()));
    taken.map_err(|database| EventLostError { spool, database })
}

/// A destination of spool entries: the whole [`Store`] or a hook's narrow [`Inbox`].
pub trait SpoolTarget {
    /// Enqueues all entries in one transaction, or none.
    fn enqueue(&mut self, entries: &[&SpoolEntry<'_>], now: Millis) -> Result<(), StoreError>;
}

impl SpoolTarget for Inbox {
    fn enqueue(&mut self, entries: &[&SpoolEntry<'_>], now: Millis) -> Result<(), StoreError> {
        self.write(|w| write_entries(w, entries, now))
    }
}

impl SpoolTarget for Store {
    fn enqueue(&mut self, entries: &[&SpoolEntry<'_>], now: Millis) -> Result<(), StoreError> {
        self.write(|w| write_entries(w, entries, now))
    }
}

fn write_entries(
    w: &claude_mem_store::StoreWriter<'_>,
    entries: &[&SpoolEntry<'_>],
    now: Millis,
) -> Result<(), StoreError> {
    for entry in entries {
        match entry {
            SpoolEntry::Event(key, event) => {
                w.accept(*key, event, now)?;
            }
            SpoolEntry::Ignore(client, session) => w.ignore_session(client, session, now)?,
        }
    }
    Ok(())
}

/// Moves every pending spool entry into the queue and returns their number. Consumers of the queue
/// call this first: a turn's tool calls may still be in the spool when its end is already queued.
pub fn drain_spool(dir: &DataDir, queue: &mut impl SpoolTarget, now: Millis) -> Result<usize, StoreError> {
    let mut taken = 0;
    loop {
        match drain_batch(dir, queue, now)? {
            0 => return Ok(taken),
            more => taken += more,
        }
    }
}

/// Drains the spool for at most `SPOOL_PER_HOOK_MS`: for a hook at a turn boundary when no worker
/// runs.
pub fn drain_spool_briefly(database: &mut HookDatabase<'_>, now: Millis) -> Result<(), StoreError> {
    let dir = database.dir();
    let inbox = database.writable()?;
    let until = Instant::now() + Duration::from_millis(SPOOL_PER_HOOK_MS);
    while drain_batch(dir, inbox, now)? > 0 && Instant::now() < until {}
    Ok(())
}

fn drain_batch(dir: &DataDir, queue: &mut impl SpoolTarget, now: Millis) -> Result<usize, StoreError> {
    let io = |e| StoreError::Io("the spool".to_owned(), e);
    let pending = spool::read_pending(dir, SPOOL_BATCH_MAX).map_err(io)?;
    let entries: Vec<_> = pending.iter().map(|pending| &pending.entry).collect();
    if entries.is_empty() {
        return Ok(0);
    }
    match queue.enqueue(&entries, now) {
        Ok(()) => pending.iter().try_for_each(PendingEntry::acknowledge).map_err(io)?,
        Err(e) if e.is_rejected_row() => drain_one_by_one(dir, &pending, queue, now)?,
        Err(e) => return Err(e),
    }
    Ok(pending.len())
}

/// Retries a failed batch entry by entry, and sets the entries aside that the database rejects.
fn drain_one_by_one(
    dir: &DataDir,
    pending: &[PendingEntry],
    queue: &mut impl SpoolTarget,
    now: Millis,
) -> Result<(), StoreError> {
    let io = |e| StoreError::Io("the spool".to_owned(), e);
    for one in pending {
        match queue.enqueue(&[&one.entry], now) {
            Ok(()) => one.acknowledge().map_err(io)?,
            Err(e) if e.is_rejected_row() => one.reject(dir, &e).map_err(io)?,
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "enqueue_tests.rs"]
mod tests;
