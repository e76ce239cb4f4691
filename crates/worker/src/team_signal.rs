//! [`TeamSignal`] wakes the threads that keep this machine and its team in step.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use claude_mem_core::sync::lock;
use claude_mem_sharing::TeamFile;
use claude_mem_wire::messages::WaitRequest;

/// Wakes the team thread.
#[derive(Debug, Default)]
pub(crate) struct TeamSignal {
    pub(crate) state: Mutex<TeamSignalState>,
    pub(crate) changed: Condvar,
}

#[derive(Debug, Default)]
pub(crate) struct TeamSignalState {
    notified: bool,
    pub(crate) stopping: bool,
    /// The event that the second thread waits for, if any.
    pub(crate) wait: Option<(TeamFile, WaitRequest)>,
    /// Counts the values of `wait`.
    pub(crate) turn: u64,
    /// Counts the waiters that were started; all but the last are abandoned.
    pub(crate) waiter_generation: u64,
    /// Waiters that have not ended yet.
    pub(crate) waiters: u32,
}

impl TeamSignal {
    /// Wakes the thread: rows were stored, or the server has news.
    pub(crate) fn notify(&self) {
        self.update(|state| state.notified = true);
    }

    pub(crate) fn stop(&self) {
        self.update(|state| state.stopping = true);
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut TeamSignalState)) {
        change(&mut lock(&self.state));
        self.changed.notify_all();
    }

    /// Counts a new waiter and abandons the one before it. `None` if there are too many already.
    pub(crate) fn begin_waiter(&self, waiters_max: u32) -> Option<u64> {
        let mut state = lock(&self.state);
        if state.waiters >= waiters_max {
            return None;
        }
        state.waiters += 1;
        state.waiter_generation += 1;
        let generation = state.waiter_generation;
        drop(state);
        self.changed.notify_all();
        Some(generation)
    }

    /// A waiter has ended.
    pub(crate) fn end_waiter(&self) {
        self.update(|state| state.waiters -= 1);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        lock(&self.state).stopping
    }

    /// Sleeps this long, or until the threads stop.
    pub(crate) fn pause(&self, pause: Duration) {
        let state = lock(&self.state);
        drop(self.changed.wait_timeout_while(state, pause, |state| !state.stopping));
    }

    /// Sleeps until it is notified. False if the time was over first.
    pub(crate) fn wait(&self, pause: Duration) -> bool {
        let state = lock(&self.state);
        let (mut state, timeout) = self
            .changed
            .wait_timeout_while(state, pause, |state| !state.notified && !state.stopping)
            .unwrap_or_else(PoisonError::into_inner);
        state.notified = false;
        !timeout.timed_out()
    }
}
