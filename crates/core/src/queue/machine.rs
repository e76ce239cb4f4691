//! The queue's state machine: pure functions, so that a simulator can drive millions of
//! interleavings.

use crate::clock::Millis;
use crate::limits::{ATTEMPTS_MAX, BACKOFF_SECONDS_MAX, CRASHES_MAX, LEASE_SECONDS};

/// Identifies one lease. A worker whose lease expired cannot settle events with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseId(pub i64);

/// The state of a queued event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueState {
    Waiting {
        not_before: Millis,
    },
    Leased {
        lease: LeaseId,
        until: Millis,
    },
    Done,
    /// Failed too often. Kept and listed until a person retries or drops it.
    Dead,
}

/// The state of one event in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueEntry {
    pub state: QueueState,
    /// Reported failures.
    pub attempts: u32,
    /// Expired leases: the worker crashed over the event, or was killed for another reason.
    pub crashes: u32,
}

impl QueueEntry {
    pub const NEW: Self =
        Self { state: QueueState::Waiting { not_before: Millis(0) }, attempts: 0, crashes: 0 };
}

/// How many events from the front of a session can be leased together now. `session` holds its
/// events in order, with or without settled ones.
///
/// Events never overtake each other: one that waits for its retry blocks all later ones, and a
/// leased one blocks the whole session. Dead events block nothing.
pub fn leasable_count(session: &[QueueEntry], now: Millis) -> usize {
    let blocked = |entry: &QueueEntry| match entry.state {
        QueueState::Done | QueueState::Dead => false,
        QueueState::Waiting { .. } | QueueState::Leased { .. } => lease(*entry, LeaseId(0), now).is_none(),
    };
    session.iter().position(blocked).unwrap_or(session.len())
}

/// Leases one event. `None`: not now, or never again. An event that crashed too many workers
/// becomes dead, so that it does not crash the next one.
pub fn lease(entry: QueueEntry, lease: LeaseId, now: Millis) -> Option<QueueEntry> {
    let leased = QueueState::Leased { lease, until: now.plus_seconds(LEASE_SECONDS) };
    match entry.state {
        // A time beyond the longest backoff means that the clock was set back.
        QueueState::Waiting { not_before }
            if not_before <= now || not_before > now.plus_seconds(BACKOFF_SECONDS_MAX) =>
        {
            Some(QueueEntry { state: leased, ..entry })
        }
        QueueState::Leased { until, .. } if until <= now || until > now.plus_seconds(LEASE_SECONDS) => {
            let crashes = entry.crashes + 1;
            let state = if crashes >= CRASHES_MAX { QueueState::Dead } else { leased };
            Some(QueueEntry { state, crashes, ..entry })
        }
        QueueState::Waiting { .. } | QueueState::Leased { .. } | QueueState::Done | QueueState::Dead => None,
    }
}

/// Marks an event as done. Only for the holder of the lease.
pub fn settle(entry: QueueEntry, held: LeaseId) -> Option<QueueEntry> {
    match entry.state {
        QueueState::Leased { lease, .. } if lease == held => {
            Some(QueueEntry { state: QueueState::Done, ..entry })
        }
        _ => None,
    }
}

/// Records a failure: the event waits with increasing backoff, or is dead. Only for the holder of
/// the lease.
pub fn fail(entry: QueueEntry, held: LeaseId, now: Millis) -> Option<QueueEntry> {
    match entry.state {
        QueueState::Leased { lease, .. } if lease == held => {
            let attempts = entry.attempts + 1;
            let state = if attempts >= ATTEMPTS_MAX {
                QueueState::Dead
            } else {
                QueueState::Waiting { not_before: now.plus_seconds(backoff_seconds(attempts)) }
            };
            Some(QueueEntry { state, attempts, ..entry })
        }
        _ => None,
    }
}

/// Makes a dead event wait again, at a person's request.
pub fn retry(entry: QueueEntry) -> Option<QueueEntry> {
    (entry.state == QueueState::Dead).then_some(QueueEntry::NEW)
}

/// 2, 4, 8 … seconds, up to the bound.
fn backoff_seconds(attempts: u32) -> i64 {
    (1_i64 << attempts.min(16)).min(BACKOFF_SECONDS_MAX)
}
