//! Delays without a clock: something waits until the test lets it go on.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// A gate that starts shut. Clones are the same gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    pub fn shut() -> Self {
        Self::default()
    }

    /// Lets through everyone who waits now or comes later.
    pub fn open(&self) {
        *self.0.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.opened.notify_all();
    }

    pub(crate) fn wait(&self) {
        let open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.0.opened.wait_while(open, |open| !*open));
    }
}
