//! [`TimedCache`]: a result that needs many files to be read, kept for a few seconds, because every open page asks
//! for it.

use std::convert::Infallible;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use claude_mem_core::sync::lock;

/// Seconds that a result is kept.
const CACHED_SECONDS: u64 = 10;

/// The last result, and when it was made.
#[derive(Debug)]
pub(super) struct TimedCache<T>(Mutex<Option<(Instant, T)>>);

impl<T> Default for TimedCache<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone> TimedCache<T> {
    /// A result that is at most a few seconds old.
    pub(super) fn get_or_make(&self, make: impl FnOnce() -> T) -> T {
        let Ok(found) = self.get_or_try_make(|| Ok::<T, Infallible>(make()));
        found
    }

    /// A result that is at most a few seconds old. A failure is returned and not cached.
    pub(super) fn get_or_try_make<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        // Held while it is made: concurrent requests want the same result.
        let mut cached = lock(&self.0);
        if let Some((at, found)) = cached.as_ref()
            && at.elapsed() < Duration::from_secs(CACHED_SECONDS)
        {
            return Ok(found.clone());
        }
        let found = make()?;
        *cached = Some((Instant::now(), found.clone()));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_is_returned_and_not_cached() {
        let cache = TimedCache::default();
        assert_eq!(cache.get_or_try_make(|| Err::<u32, _>("no store")), Err("no store"));
        assert_eq!(cache.get_or_try_make(|| Ok::<_, &str>(7)), Ok(7), "the failure did not stay");
        assert_eq!(cache.get_or_make(|| 8), 7, "a result does");
    }
}
