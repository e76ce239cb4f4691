//! [`IndexSignal`] wakes the indexer thread, and lets one thread at a time work on the backlog.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use crate::limits::UPKEEP_SECONDS;
use claude_mem_core::sync::lock;

/// Pause between two attempts to become the thread that works.
const RETRY_PAUSE: Duration = Duration::from_millis(10);

/// Wakes the indexer thread, and serialises those that compute vectors.
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

    /// Waits until no other thread works on the backlog. `None` if `is_over` returned true first.
    pub(crate) fn work_alone(&self, is_over: &dyn Fn() -> bool) -> Option<MutexGuard<'_, ()>> {
        loop {
            match self.working.try_lock() {
                Ok(alone) => return Some(alone),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if is_over() => return None,
                Err(TryLockError::WouldBlock) => std::thread::sleep(RETRY_PAUSE),
            }
        }
    }
}
