//! What one reading of a transcript brings into the queue.
//!
//! Invariant: events go in in their order, a batch per transaction. Once one batch was refused
//! nothing more is taken and no place is saved, so that the next reading begins where this one did.

use std::path::Path;

use super::shared::SharedStore;
use crate::clock;
use crate::hook::event::{Event, EventKey};
use crate::limits::WITNESS_BATCH_MAX;
use crate::store::{Accepted, StoreError, TranscriptPosition, Writes};
use crate::transcript::{Position, Rules, Sink, State};

pub(super) struct Testimony<'s> {
    store: &'s SharedStore,
    path: String,
    client: &'s str,
    session: &'s str,
    batch: Vec<(EventKey, Event)>,
    /// Events that nobody had told before.
    new: usize,
    refused: Option<StoreError>,
}

impl<'s> Testimony<'s> {
    pub(super) fn new(store: &'s SharedStore, path: &Path, rules: &Rules<'s>) -> Self {
        Self {
            store,
            path: path.to_string_lossy().into_owned(),
            client: rules.client,
            session: rules.session,
            batch: Vec::new(),
            new: 0,
            refused: None,
        }
    }

    /// Where the last reading ended. One that another version left, or that was of another
    /// session, is none.
    pub(super) fn left_at(&self) -> Result<Option<Position>, StoreError> {
        let left = self
            .store
            .with(|store| store.read().transcript_position(&self.path))?;
        Ok(left
            .filter(|left| left.session == self.session)
            .and_then(|left| {
                Some(Position {
                    offset: left.offset_bytes,
                    state: serde_json::from_str::<State>(&left.state).ok()?,
                })
            }))
    }

    /// What is left goes in together with the place that was reached.
    pub(super) fn finish(mut self, position: &Position) -> Result<usize, StoreError> {
        if let Some(error) = self.refused.take() {
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
        self.write(|tx| tx.set_transcript_position(&at, now))?;
        Ok(self.new)
    }

    fn write(
        &mut self,
        and: impl FnOnce(&Writes<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let now = clock::now().millis();
        let batch = std::mem::take(&mut self.batch);
        let new = self.store.with(|store| {
            store.write(|tx| {
                let mut new = 0;
                for (key, event) in &batch {
                    new += usize::from(tx.accept(*key, event, now)? == Accepted::New);
                }
                and(tx)?;
                Ok(new)
            })
        })?;
        self.new += new;
        Ok(())
    }
}

impl Sink for Testimony<'_> {
    fn knows(&mut self, key: EventKey) -> bool {
        if self.refused.is_some() || self.batch.iter().any(|(told, _)| *told == key) {
            return true;
        }
        match self.store.with(|store| store.read().has_seen(key)) {
            Ok(seen) => seen,
            Err(error) => {
                self.refused = Some(error);
                true
            }
        }
    }

    fn take(&mut self, key: EventKey, event: Event) {
        self.batch.push((key, event));
        if self.batch.len() >= WITNESS_BATCH_MAX
            && let Err(error) = self.write(|_| Ok(()))
        {
            self.refused = Some(error);
        }
    }
}
