//! The queue's rules as pure code, so that a simulator can drive millions of interleavings.

use crate::clock::Millis;
use crate::limits::{ATTEMPTS_MAX, BACKOFF_SECONDS_MAX, CRASHES_MAX, LEASE_SECONDS};

/// Names one taking of events. A worker that slept through its lease cannot settle with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseId(pub i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Waiting {
        not_before: Millis,
    },
    Leased {
        lease: LeaseId,
        until: Millis,
    },
    Done,
    /// Failed too often. Kept, listed, and waiting again when a person says so.
    Dead,
}

/// What the rules need to know of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub state: State,
    /// Failures that somebody reported.
    pub attempts: u32,
    /// Leases that ran out: the worker died over it, or was killed for other reasons.
    pub crashes: u32,
}

impl Entry {
    pub const NEW: Self = Self {
        state: State::Waiting {
            not_before: Millis(0),
        },
        attempts: 0,
        crashes: 0,
    };
}

/// How many events from the front of a session may be leased together now. `session` holds its
/// events in order, settled ones left out or in.
///
/// Nothing overtakes: an event that waits for its next try holds back all behind it, and one
/// that somebody works on holds back the whole session. Dead events stand aside.
pub fn leasable(session: &[Entry], now: Millis) -> usize {
    let blocked = |entry: &Entry| match entry.state {
        State::Done | State::Dead => false,
        State::Waiting { .. } | State::Leased { .. } => lease(*entry, LeaseId(0), now).is_none(),
    };
    session.iter().position(blocked).unwrap_or(session.len())
}

/// Takes one event. `None`: not now, or not any more. An event over which workers died too
/// often becomes dead instead of taking the next worker with it.
pub fn lease(entry: Entry, lease: LeaseId, now: Millis) -> Option<Entry> {
    let leased = State::Leased {
        lease,
        until: now.plus_seconds(LEASE_SECONDS),
    };
    match entry.state {
        // A time further away than any backoff means that the clock was set back.
        State::Waiting { not_before }
            if not_before <= now || not_before > now.plus_seconds(BACKOFF_SECONDS_MAX) =>
        {
            Some(Entry {
                state: leased,
                ..entry
            })
        }
        State::Leased { until, .. } if until <= now || until > now.plus_seconds(LEASE_SECONDS) => {
            let crashes = entry.crashes + 1;
            let state = if crashes >= CRASHES_MAX {
                State::Dead
            } else {
                leased
            };
            Some(Entry {
                state,
                crashes,
                ..entry
            })
        }
        State::Waiting { .. } | State::Leased { .. } | State::Done | State::Dead => None,
    }
}

/// Its memories are stored. Only for the holder of the lease.
pub fn settle(entry: Entry, held: LeaseId) -> Option<Entry> {
    match entry.state {
        State::Leased { lease, .. } if lease == held => Some(Entry {
            state: State::Done,
            ..entry
        }),
        _ => None,
    }
}

/// It could not be done. It waits, a little longer each time, or is dead.
pub fn fail(entry: Entry, held: LeaseId, now: Millis) -> Option<Entry> {
    match entry.state {
        State::Leased { lease, .. } if lease == held => {
            let attempts = entry.attempts + 1;
            let state = if attempts >= ATTEMPTS_MAX {
                State::Dead
            } else {
                State::Waiting {
                    not_before: now.plus_seconds(backoff_seconds(attempts)),
                }
            };
            Some(Entry {
                state,
                attempts,
                ..entry
            })
        }
        _ => None,
    }
}

/// A person says: try the dead one again.
pub fn retry(entry: Entry) -> Option<Entry> {
    (entry.state == State::Dead).then_some(Entry::NEW)
}

/// 2, 4, 8 … seconds, up to the bound.
fn backoff_seconds(attempts: u32) -> i64 {
    (1_i64 << attempts.min(16)).min(BACKOFF_SECONDS_MAX)
}
