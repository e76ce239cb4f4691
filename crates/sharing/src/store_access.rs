//! [`StoreAccess`]: how the engine gets the store, which the worker shares among its threads.

use std::sync::{Mutex, PoisonError};

use claude_mem_store::{Store, StoreError};

/// Exclusive access to the store, for one short piece of work at a time.
pub trait StoreAccess {
    fn with_store<T>(&self, act: impl FnOnce(&mut Store) -> Result<T, StoreError>) -> Result<T, StoreError>;
}

impl StoreAccess for Mutex<Store> {
    fn with_store<T>(&self, act: impl FnOnce(&mut Store) -> Result<T, StoreError>) -> Result<T, StoreError> {
        // A panic cannot leave a partial change: its transaction was rolled back.
        act(&mut self.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
