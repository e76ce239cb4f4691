//! The way of an event from the spool to a stored memory, step by step.
//!
//! ```text
//! spool → queue → pick session → transcript backfill → lease → episode → compress or distil
//!       → persist and acknowledge → notify index and viewers
//! ```
//!
//! `EpisodePipeline::drain_spool` and `EpisodePipeline::pick_session` find the next session,
//! `EpisodePipeline::process_session` takes one episode of it through the other steps. The
//! [`Scheduler`](crate::scheduler::Scheduler) decides when, and on which thread.
//!
//! Invariant: an episode's rows and the acknowledgement of its events are one transaction. A failed
//! episode is retried with backoff and ends as a dead letter (`settlement`).

use std::collections::HashSet;
use std::sync::Arc;

use crate::compressor::{CompressionOutcome, Compressor};
use crate::crash_guard::compress_guarded;
use crate::job::{self, EpisodeJob};
use crate::pipeline_observer::PipelineObserver;
use crate::session_picker::{self, PickedSession, SessionKey, SessionPick};
use crate::settlement::{self, EpisodeFailure};
use crate::shared_store::SharedStore;
use crate::transcript_backfill::TranscriptBackfill;
use claude_mem_capture::enqueue;
use claude_mem_core::clock;
use claude_mem_core::queue::LeaseId;
use claude_mem_store::StoreError;

/// The steps from the spool to the store, with what they work on.
#[derive(Debug)]
pub struct EpisodePipeline {
    pub store: Arc<SharedStore>,
    /// Without it, only events that hooks delivered are processed.
    pub backfill: Option<Arc<TranscriptBackfill>>,
    pub compressor: Arc<dyn Compressor>,
    pub observer: Arc<dyn PipelineObserver>,
}

impl EpisodePipeline {
    /// Spool → queue. This runs before anything is leased: the tool uses of a turn may still be in
    /// the spool when its stop is already queued. Returns the error if the spool cannot be read;
    /// the queue can be processed all the same.
    pub(crate) fn drain_spool(&self) -> Result<Option<StoreError>, StoreError> {
        let (dir, now) = (self.store.dir(), clock::now().millis());
        match self.store.with(|store| enqueue::drain_spool(dir, store, now)) {
            Err(error @ StoreError::Io(..)) => {
                self.observer.warn("failed to read the spool", &error);
                Ok(Some(error))
            }
            taken => taken.map(|_| None),
        }
    }

    /// Queue → the session that is next.
    pub(crate) fn pick_session(
        &self,
        busy: &HashSet<SessionKey>,
        flush: bool,
    ) -> Result<SessionPick, StoreError> {
        let now = clock::now().millis();
        self.store.with(|store| session_picker::pick_session(&store.read(), busy, now, flush))
    }

    /// Takes the next episode of a session from the queue to the store.
    pub(crate) fn process_session(
        &self,
        picked: &PickedSession,
        lease: LeaseId,
        flush: bool,
    ) -> Result<(), EpisodeFailure> {
        self.backfill_transcript(picked);
        let Some(work) = self.lease_episode(picked, lease, flush)? else {
            return Ok(());
        };
        let outcome = compress_guarded(&*self.compressor, &work, &*self.observer);
        self.persist_outcome(&work, outcome).map_err(|error| {
            self.observer.warn("failed to store an episode", &error);
            EpisodeFailure { error, lease: Some(Box::new(work.lease)) }
        })
    }

    /// Transcript → queue: events that the client recorded and no hook delivered.
    fn backfill_transcript(&self, picked: &PickedSession) {
        let Some(backfill) = &self.backfill else {
            return;
        };
        match backfill.backfill_before_lease(&picked.ready, &picked.heads) {
            Ok(report) => {
                report.errors.iter().for_each(|error| self.observer.warn("failed to read transcript", error));
                if report.new_events > 0 {
                    self.observer.events_backfilled(report.new_events);
                }
            }
            Err(error) => self.observer.warn("failed to read transcript", &error),
        }
    }

    /// Queue → lease → episode. `None` if no episode is complete.
    fn lease_episode(
        &self,
        picked: &PickedSession,
        lease: LeaseId,
        flush: bool,
    ) -> Result<Option<EpisodeJob>, EpisodeFailure> {
        let now = clock::now().millis();
        let leased = self.store.with(|store| job::lease_job(store, &picked.ready, lease, now, flush));
        leased.map_err(|error| {
            self.observer.warn("failed to lease an episode", &error);
            EpisodeFailure { error, lease: None }
        })
    }

    /// Memories → store, with the acknowledgement of the events; then index and viewers are told.
    fn persist_outcome(&self, work: &EpisodeJob, outcome: CompressionOutcome) -> Result<(), StoreError> {
        match outcome {
            CompressionOutcome::Compressed(made) => {
                let left = self.store.with(|store| work.complete(store, &made))?;
                self.observer.episode_stored(work, &left);
                Ok(())
            }
            CompressionOutcome::Failed(why) => {
                settlement::fail_events(&self.store, &*self.observer, &work.lease, &why)
            }
            CompressionOutcome::Released => settlement::release_events(&self.store, &work.lease),
        }
    }
}
