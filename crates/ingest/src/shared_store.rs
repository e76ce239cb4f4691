//! The worker's single writing connection, shared by its threads.
//!
//! Invariant: one thread and one transaction at a time. When a call to [`SharedStore::with`] finds
//! the store corrupt, the store is recovered before the next thread gets it. The work of that call is
//! lost; its events are in the queue of the recovered store, from the backup or salvaged.

use std::sync::Mutex;

use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::paths::DataDir;
use claude_mem_core::sync::lock;
use claude_mem_store::recovery;
use claude_mem_store::{Store, StoreError};

/// The store behind a mutex, with recovery.
#[derive(Debug)]
pub struct SharedStore {
    dir: DataDir,
    store: Mutex<StoreSlot>,
    /// This process may replace a corrupt database: it holds the worker lock.
    recovers: bool,
}

/// State of the shared connection.
#[derive(Debug)]
enum StoreSlot {
    Open(Box<Store>),
    /// The store was corrupt and recovery failed: the next call tries again.
    Unrecovered,
    /// The worker has shut down.
    Closed,
}

impl SharedStore {
    /// Opens the store of a data directory, after recovering it if it is corrupt. Only the holder of
    /// the worker lock may call this.
    pub fn open(dir: &DataDir, now: Millis) -> Result<Self, StoreError> {
        let store = recovery::open_or_recover(dir, now)?;
        Ok(Self { dir: dir.clone(), store: Mutex::new(StoreSlot::Open(Box::new(store))), recovers: true })
    }

    /// Shares a connection of a command that runs beside the worker. A corrupt store is left to the worker.
    pub fn attach(dir: &DataDir, store: Store) -> Self {
        Self { dir: dir.clone(), store: Mutex::new(StoreSlot::Open(Box::new(store))), recovers: false }
    }

    /// The data directory of the store.
    pub fn dir(&self) -> &DataDir {
        &self.dir
    }

    /// Runs `act` with exclusive access to the store. If it returns the error for a corrupt database,
    /// the store has been recovered when this returns.
    pub fn with<T>(&self, act: impl FnOnce(&mut Store) -> Result<T, StoreError>) -> Result<T, StoreError> {
        // A panic cannot leave a partial change: its transaction was rolled back.
        let mut slot = lock(&self.store);
        if matches!(*slot, StoreSlot::Unrecovered) {
            *slot = self.recover_slot()?;
        }
        let StoreSlot::Open(store) = &mut *slot else {
            return Err(StoreError::Busy);
        };
        let done = act(store);
        if self.recovers && matches!(done, Err(StoreError::Corrupt)) {
            *slot = StoreSlot::Unrecovered;
            *slot = self.recover_slot()?;
        }
        done
    }

    fn recover_slot(&self) -> Result<StoreSlot, StoreError> {
        let store = recovery::recover(&self.dir, clock::now().millis())?;
        Ok(StoreSlot::Open(Box::new(store)))
    }

    /// Checkpoints and closes the store for good. Later calls get `Busy`.
    pub fn close(&self) -> Result<(), StoreError> {
        let mut slot = lock(&self.store);
        match std::mem::replace(&mut *slot, StoreSlot::Closed) {
            StoreSlot::Open(store) => store.checkpoint().map(drop),
            StoreSlot::Unrecovered | StoreSlot::Closed => Ok(()),
        }
    }
}
