//! The worker's one writing connection, shared by its threads.
//!
//! Invariant: one thread at a time, one transaction at a time. A store that turns out to be
//! damaged is replaced by a recovered one before the next thread gets to it; the work of the
//! thread that found out is void, and its events are in the queue of the recovered store or in
//! what was salvaged from the damaged one.

use std::sync::{Mutex, PoisonError};

use super::recover;
use crate::clock::{self, Millis};
use crate::paths::DataDir;
use crate::store::{Store, StoreError};

#[derive(Debug)]
pub struct SharedStore {
    dir: DataDir,
    /// `None` while it could not be opened.
    store: Mutex<Option<Store>>,
}

impl SharedStore {
    /// Opens the store of a data directory, after recovering it if it is damaged. Only for the
    /// holder of the directory's lock.
    pub fn open(dir: &DataDir, now: Millis) -> Result<Self, StoreError> {
        let store = recover::open(dir, now)?;
        Ok(Self {
            dir: dir.clone(),
            store: Mutex::new(Some(store)),
        })
    }

    pub fn dir(&self) -> &DataDir {
        &self.dir
    }

    /// Does something with the store. `Damaged` means that it has been recovered since.
    pub fn with<T>(
        &self,
        act: impl FnOnce(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // A panic cannot leave half a change behind: the transaction went with it.
        let mut slot = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let store = match slot.take() {
            Some(store) => slot.insert(store),
            None => slot.insert(recover::open(&self.dir, clock::now().millis())?),
        };
        let done = act(store);
        if matches!(done, Err(StoreError::Damaged)) {
            *slot = None;
            *slot = Some(recover::open(&self.dir, clock::now().millis())?);
        }
        done
    }

    /// Empties the write-ahead log and closes. Whoever comes later finds it closed for good.
    pub fn close(&self) -> Result<(), StoreError> {
        let mut slot = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        match slot.take() {
            Some(store) => store.checkpoint(),
            None => Ok(()),
        }
    }
}
