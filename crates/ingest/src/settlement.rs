//! Settles the events of an episode that was not stored: released at once, retried after a backoff,
//! or dead with a reason.

use crate::job;
use crate::pipeline_observer::PipelineObserver;
use crate::session_picker::PickedSession;
use crate::shared_store::SharedStore;
use claude_mem_core::clock;
use claude_mem_core::ids::PendingId;
use claude_mem_core::queue::LeaseId;
use claude_mem_store::{EventLease, StoreError};

/// An episode that could not be leased or stored.
#[derive(Debug)]
pub(crate) struct EpisodeFailure {
    pub(crate) error: StoreError,
    /// The leased events; `None` if leasing them failed.
    pub(crate) lease: Option<Box<EventLease>>,
}

impl EpisodeFailure {
    /// Whether the cause lies in the store, not in the episode, so that a later attempt may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        let lost = matches!(self.error, StoreError::Corrupt | StoreError::LeaseLost);
        self.error.is_transient() || (lost && self.lease.is_none())
    }

    /// Settles the episode's events.
    pub(crate) fn settle(
        self,
        store: &SharedStore,
        observer: &dyn PipelineObserver,
        picked: &PickedSession,
        lease: LeaseId,
        flush: bool,
    ) -> Result<(), StoreError> {
        let transient = self.is_transient();
        match self.lease {
            // Another worker has leased them, or they are in the queue of the recovered store.
            Some(_) if matches!(self.error, StoreError::LeaseLost | StoreError::Corrupt) => Ok(()),
            Some(leased) if transient => release_events(store, &leased),
            // The cause lies in this episode.
            Some(leased) => fail_events(store, observer, &leased, &self.error.to_string()),
            None if transient => Ok(()),
            // E.g. its session row cannot be created. Without a counted attempt the events would
            // block the session forever.
            None => {
                let now = clock::now().millis();
                let leased =
                    store.with(|store| job::lease_events(store, &picked.ready, lease, now, flush))?;
                leased.map_or(Ok(()), |leased| fail_events(store, observer, &leased, &self.error.to_string()))
            }
        }
    }
}

/// Counts a failed attempt for the leased events.
pub(crate) fn fail_events(
    store: &SharedStore,
    observer: &dyn PipelineObserver,
    lease: &EventLease,
    why: &str,
) -> Result<(), StoreError> {
    observer.warn("episode failed", &why);
    let now = clock::now().millis();
    let ids: Vec<PendingId> = lease.events.iter().map(|leased| leased.id).collect();
    store.with(|store| store.write(|tx| tx.fail(lease.id, &ids, why, now)))
}

/// Releases the leased events without counting an attempt.
pub(crate) fn release_events(store: &SharedStore, lease: &EventLease) -> Result<(), StoreError> {
    store.with(|store| store.write(|tx| tx.release(lease.id).map(drop)))
}
