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
    store: Mutex<Slot>,
}

#[derive(Debug)]
enum Slot {
    Open(Box<Store>),
    /// It was damaged and could not be recovered yet: the next one tries again.
    Lost,
    /// The worker has ended.
    Closed,
}

impl SharedStore {
    /// Opens the store of a data directory, after recovering it if it is damaged. Only for the
    /// holder of the directory's lock.
    pub fn open(dir: &DataDir, now: Millis) -> Result<Self, StoreError> {
        let store = recover::open(dir, now)?;
        Ok(Self {
            dir: dir.clone(),
            store: Mutex::new(Slot::Open(Box::new(store))),
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
        if matches!(*slot, Slot::Lost) {
            *slot = self.recovered()?;
        }
        let Slot::Open(store) = &mut *slot else {
            return Err(StoreError::Busy);
        };
        let done = act(store);
        if matches!(done, Err(StoreError::Damaged)) {
            *slot = Slot::Lost;
            *slot = self.recovered()?;
        }
        done
    }

    fn recovered(&self) -> Result<Slot, StoreError> {
        let store = recover::recover(&self.dir, clock::now().millis())?;
        Ok(Slot::Open(Box::new(store)))
    }

    /// Empties the write-ahead log and closes, for good: whoever comes later is told `Busy`.
    pub fn close(&self) -> Result<(), StoreError> {
        let mut slot = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *slot, Slot::Closed) {
            Slot::Open(store) => store.checkpoint().map(drop),
            Slot::Lost | Slot::Closed => Ok(()),
        }
    }
}
