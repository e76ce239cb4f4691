//! Whether anybody needs the worker.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Who is there: viewers that look on, and when something last happened.
#[derive(Debug)]
pub struct Presence {
    viewers: AtomicUsize,
    last: Mutex<Instant>,
}

/// One viewer, for as long as it looks.
#[derive(Debug)]
pub struct Viewer(Arc<Presence>);

impl Presence {
    pub fn new(now: Instant) -> Self {
        Self {
            viewers: AtomicUsize::new(0),
            last: Mutex::new(now),
        }
    }

    /// A hook, a request or finished work: the worker is of use.
    pub fn touch(&self, now: Instant) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = (*last).max(now);
    }

    pub fn enter(self: &Arc<Self>) -> Viewer {
        self.viewers.fetch_add(1, Ordering::Relaxed);
        Viewer(Arc::clone(self))
    }

    /// How long nobody has been there.
    pub fn idle_for(&self, now: Instant) -> Duration {
        if self.viewers.load(Ordering::Relaxed) > 0 {
            return Duration::ZERO;
        }
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        now.saturating_duration_since(last)
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.0.viewers.fetch_sub(1, Ordering::Relaxed);
        self.0.touch(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_idle_from_the_last_event_on_and_never_while_somebody_looks() {
        let start = Instant::now();
        let minute = Duration::from_mins(1);
        let presence = Arc::new(Presence::new(start));
        assert_eq!(presence.idle_for(start + minute), minute);
        presence.touch(start + minute);
        // What is told late does not turn time back.
        presence.touch(start);
        assert_eq!(presence.idle_for(start + 2 * minute), minute);
        let viewer = presence.enter();
        assert_eq!(presence.idle_for(start + 100 * minute), Duration::ZERO);
        drop(viewer);
        assert!(presence.idle_for(start + 100 * minute) > 90 * minute);
    }
}
