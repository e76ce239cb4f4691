//! Tracks how long the worker has been idle, which decides when it ends by itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use claude_mem_core::sync::lock;

/// Counts the open viewers and remembers the last activity. An open viewer means not idle.
#[derive(Debug)]
pub(crate) struct IdleTracker {
    viewers: AtomicUsize,
    last_activity: Mutex<Instant>,
}

/// An open viewer. Dropping it counts as activity.
#[derive(Debug)]
pub(crate) struct ViewerGuard(Arc<IdleTracker>);

impl IdleTracker {
    pub(crate) fn new(now: Instant) -> Self {
        Self { viewers: AtomicUsize::new(0), last_activity: Mutex::new(now) }
    }

    /// Resets the idle timer, after a hook, a request or a stored episode.
    pub(crate) fn touch(&self, now: Instant) {
        let mut last = lock(&self.last_activity);
        *last = (*last).max(now);
    }

    /// Counts a viewer until the guard is dropped.
    pub(crate) fn add_viewer(self: &Arc<Self>) -> ViewerGuard {
        self.viewers.fetch_add(1, Ordering::Relaxed);
        ViewerGuard(Arc::clone(self))
    }

    /// Time since the last activity; zero while a viewer is open.
    pub(crate) fn idle_for(&self, now: Instant) -> Duration {
        if self.viewers.load(Ordering::Relaxed) > 0 {
            return Duration::ZERO;
        }
        let last = *lock(&self.last_activity);
        now.saturating_duration_since(last)
    }
}

impl Drop for ViewerGuard {
    fn drop(&mut self) {
        self.0.viewers.fetch_sub(1, Ordering::Relaxed);
        self.0.touch(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_counts_from_last_activity_and_not_while_a_viewer_is_open() {
        let start = Instant::now();
        let minute = Duration::from_mins(1);
        let presence = Arc::new(IdleTracker::new(start));
        assert_eq!(presence.idle_for(start + minute), minute);
        presence.touch(start + minute);
        // An earlier time does not move the timer back.
        presence.touch(start);
        assert_eq!(presence.idle_for(start + 2 * minute), minute);
        let viewer = presence.add_viewer();
        assert_eq!(presence.idle_for(start + 100 * minute), Duration::ZERO);
        drop(viewer);
        assert!(presence.idle_for(start + 100 * minute) > 90 * minute);
    }
}
