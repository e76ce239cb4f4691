//! The sink of a transcript backfill: [`BackfillSink`] inserts the events of one read into the queue.
//!
//! Invariant: events are inserted in order, one batch per transaction. After the first failed batch
//! nothing more is inserted and no position is saved, so that the next read starts where this one
//! did.

use std::path::Path;

use crate::shared_store::SharedStore;
use claude_mem_capture::transcript::{EventSink, ReadPosition, ReadRules, ReaderState};
use claude_mem_core::clock;
use claude_mem_core::event::{Event, EventKey};
use claude_mem_store::{AcceptOutcome, StoreError, StoreWriter, TranscriptPosition};

/// Maximum events from a transcript that are enqueued in one transaction.
const WITNESS_BATCH_MAX: usize = 32;

/// Collects the events of one transcript and writes them in batches.
pub(super) struct BackfillSink<'s> {
    store: &'s SharedStore,
    path: String,
    client: &'s str,
    session: &'s str,
    batch: Vec<(EventKey, Event)>,
    /// Number of events that were not known before.
    new_events: usize,
    /// The first error; nothing is written after it.
    store_error: Option<StoreError>,
}

impl<'s> BackfillSink<'s> {
    pub(super) fn new(store: &'s SharedStore, path: &Path, rules: &ReadRules<'s>) -> Self {
        Self {
            store,
            path: path.to_string_lossy().into_owned(),
            client: rules.client,
            session: rules.session,
            batch: Vec::new(),
            new_events: 0,
            store_error: None,
        }
    }

    /// Where the previous read ended. A position of another version or another session does not
    /// count.
    pub(super) fn saved_position(&self) -> Result<Option<ReadPosition>, StoreError> {
        let left = self.store.with(|store| store.read().transcript_position(&self.path))?;
        Ok(left.filter(|left| left.session == self.session).and_then(|left| {
            Some(ReadPosition {
                offset: left.offset_bytes,
                state: serde_json::from_str::<ReaderState>(&left.state).ok()?,
            })
        }))
    }

    /// Writes the last batch and the position in one transaction. Returns the number of new events.
    pub(super) fn finish(mut self, position: &ReadPosition) -> Result<usize, StoreError> {
        if let Some(error) = self.store_error.take() {
            return Err(error);
        }
        let at = TranscriptPosition {
            path: self.path.clone(),
            client: self.client.to_owned(),
            session: self.session.to_owned(),
            offset_bytes: position.offset,
            state: serde_json::to_string(&position.state)?,
        };
        let now = clock::now().millis();
        self.write_batch(|tx| tx.set_transcript_position(&at, now))?;
        Ok(self.new_events)
    }

    /// Writes the collected batch, and `and` in the same transaction.
    fn write_batch(
        &mut self,
        and: impl FnOnce(&StoreWriter<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let now = clock::now().millis();
        let batch = std::mem::take(&mut self.batch);
        let new = self.store.with(|store| {
            store.write(|tx| {
                let mut new = 0;
                for (key, event) in &batch {
                    new += usize::from(tx.accept(*key, event, now)? == AcceptOutcome::New);
                }
                and(tx)?;
                Ok(new)
            })
        })?;
        self.new_events += new;
        Ok(())
    }
}

impl EventSink for BackfillSink<'_> {
    fn is_known(&mut self, key: EventKey) -> bool {
        if self.store_error.is_some() || self.batch.iter().any(|(told, _)| *told == key) {
            return true;
        }
        match self.store.with(|store| store.read().has_seen(key)) {
            Ok(seen) => seen,
            Err(error) => {
                self.store_error = Some(error);
                true
            }
        }
    }

    fn push(&mut self, key: EventKey, event: Event) {
        self.batch.push((key, event));
        if self.batch.len() >= WITNESS_BATCH_MAX
            && let Err(error) = self.write_batch(|_| Ok(()))
        {
            self.store_error = Some(error);
        }
    }
}
