//! Delays without a clock: a thread waits at a [`TestGate`] until the test opens it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// A gate that is closed at first. Clones share its state.
#[derive(Clone, Debug, Default)]
pub struct TestGate(Arc<GateState>);

#[derive(Debug, Default)]
struct GateState {
    open: Mutex<bool>,
    opened: Condvar,
}

impl TestGate {
    pub fn shut() -> Self {
        Self::default()
    }

    /// Lets every current and future waiter pass.
    pub fn open(&self) {
        *self.0.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.opened.notify_all();
    }

    pub(crate) fn wait(&self) {
        let open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.0.opened.wait_while(open, |open| !*open));
    }
}
