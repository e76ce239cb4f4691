//! [`IndexSignal`] wakes the indexer thread; [`catch_up`] computes the missing vectors.
//!
//! Invariant: one thread at a time works on the backlog, on its own connections: encoding takes
//! seconds, and no other thread may wait for it. It shares a batch with idle cores.

use std::sync::{Condvar, Mutex, PoisonError, TryLockError};
use std::time::Duration;

use crate::limits::UPKEEP_SECONDS;
use claude_mem_core::log::{LogLevel, LogWriter};
use claude_mem_core::platform;
use claude_mem_core::sync::lock;
use claude_mem_ingest::shared_store::SharedStore;
use claude_mem_search::{ParallelEncoder, index};
use claude_mem_store::{Store, StoreError, VectorStore};

/// Wakes the indexer thread, and serialises the callers of `catch_up`.
#[derive(Debug, Default)]
pub(crate) struct IndexSignal {
    state: Mutex<IndexSignalState>,
    changed: Condvar,
    working: Mutex<()>,
}

#[derive(Debug, Default)]
struct IndexSignalState {
    notified: bool,
    stopping: bool,
}

impl IndexSignal {
    /// Wakes the indexer: rows were stored.
    pub(crate) fn notify(&self) {
        self.update(|state| state.notified = true);
    }

    /// Ends the indexer thread.
    pub(crate) fn stop(&self) {
        self.update(|state| state.stopping = true);
    }

    fn update(&self, change: impl FnOnce(&mut IndexSignalState)) {
        change(&mut lock(&self.state));
        self.changed.notify_all();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        lock(&self.state).stopping
    }

    /// Sleeps until rows are stored, at most one maintenance interval: deleted rows send no signal.
    pub(crate) fn wait(&self) {
        let state = lock(&self.state);
        let pause = Duration::from_secs(UPKEEP_SECONDS);
        let (mut state, _) = self
            .changed
            .wait_timeout_while(state, pause, |state| !state.notified && !state.stopping)
            .unwrap_or_else(PoisonError::into_inner);
        state.notified = false;
    }
}

/// Computes vectors until every stored row has them. False if `is_over` returned true first.
pub(crate) fn catch_up(
    store: &SharedStore,
    signal: &IndexSignal,
    is_over: &dyn Fn() -> bool,
) -> Result<bool, StoreError> {
    let _alone = loop {
        match signal.working.try_lock() {
            Ok(alone) => break alone,
            Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
            Err(TryLockError::WouldBlock) if is_over() => return Ok(false),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let (mut own, mut vectors) = open_stores(store)?;
    let model = embed::EmbeddingModel::built_in();
    let encoder = ParallelEncoder::new(model, &platform::idle_cores);
    let done = index::catch_up(&mut own, &mut vectors, &encoder, |_| is_over())?;
    if done.embedded > 0 {
        vectors.checkpoint()?;
    }
    Ok(done.remaining == 0)
}

/// Opens the store and the vectors on connections of their own.
pub(crate) fn open_stores(store: &SharedStore) -> Result<(Store, VectorStore), StoreError> {
    let vectors = VectorStore::open(&store.dir().vectors_db(), embed::EmbeddingModel::built_in().id())?;
    if let Some(why) = vectors.replaced_reason() {
        let (now, what) = (claude_mem_core::clock::now().millis(), "rebuilding all vectors");
        LogWriter::for_worker(store.dir()).line(now, LogLevel::Warn, what, &[("why", &why)]);
    }
    Ok((Store::open(&store.dir().db())?, vectors))
}
