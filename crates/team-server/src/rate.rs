//! [`RateLimiter`]: token buckets in memory, per replica. They keep one client from taking everything; the
//! exact daily quota is in the database.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Mutex;
use std::time::Instant;

use claude_mem_core::sync::lock;

/// Buckets that are kept at a time; full ones are dropped first.
const BUCKETS_MAX: usize = 10_000;

/// How fast requests may come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RequestRate {
    pub(crate) per_second: f64,
    /// Requests at once after a pause.
    pub(crate) burst: f64,
}

#[derive(Clone, Copy, Debug)]
struct TokenBucket {
    tokens: f64,
    at: Instant,
}

/// One bucket per key.
#[derive(Debug)]
pub(crate) struct RateLimiter<K> {
    rate: RequestRate,
    buckets: Mutex<HashMap<K, TokenBucket>>,
}

impl<K: Eq + Hash> RateLimiter<K> {
    pub(crate) fn new(rate: RequestRate) -> Self {
        Self { rate, buckets: Mutex::default() }
    }

    /// Takes one token; otherwise the seconds until there is one.
    pub(crate) fn take(&self, key: K, now: Instant) -> Result<(), u64> {
        let mut buckets = lock(&self.buckets);
        if buckets.len() >= BUCKETS_MAX && !buckets.contains_key(&key) {
            buckets.retain(|_, bucket| self.filled(bucket, now) < self.rate.burst);
            if buckets.len() >= BUCKETS_MAX {
                // More keys than we count at once: an attack from many addresses. Nobody new for a second.
                return Err(1);
            }
        }
        let bucket = buckets.entry(key).or_insert(TokenBucket { tokens: self.rate.burst, at: now });
        let tokens = self.filled(bucket, now);
        if tokens < 1.0 {
            return Err(self.seconds_until_token(tokens));
        }
        *bucket = TokenBucket { tokens: tokens - 1.0, at: now };
        Ok(())
    }

    /// Says what [`Self::take`] would, and takes nothing.
    pub(crate) fn check(&self, key: &K, now: Instant) -> Result<(), u64> {
        let buckets = lock(&self.buckets);
        match buckets.get(key).map(|bucket| self.filled(bucket, now)) {
            Some(tokens) if tokens < 1.0 => Err(self.seconds_until_token(tokens)),
            _ => Ok(()),
        }
    }

    fn seconds_until_token(&self, tokens: f64) -> u64 {
        ((1.0 - tokens) / self.rate.per_second).ceil().max(1.0) as u64
    }

    fn filled(&self, bucket: &TokenBucket, now: Instant) -> f64 {
        let seconds = now.saturating_duration_since(bucket.at).as_secs_f64();
        seconds.mul_add(self.rate.per_second, bucket.tokens).min(self.rate.burst)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn burst_is_bounded_and_refills_with_time() {
        let limiter = RateLimiter::new(RequestRate { per_second: 2.0, burst: 3.0 });
        let start = Instant::now();
        for _ in 0..3 {
            assert_eq!(limiter.take("a", start), Ok(()));
        }
        assert_eq!(limiter.take("a", start), Err(1));
        assert_eq!((limiter.check(&"a", start), limiter.check(&"b", start)), (Err(1), Ok(())));
        assert_eq!(limiter.take("b", start), Ok(()));
        let later = start + Duration::from_millis(500);
        assert_eq!(limiter.check(&"a", later), Ok(()));
        assert_eq!(limiter.take("a", later), Ok(()));
        assert_eq!(limiter.take("a", later), Err(1));
    }

    #[test]
    fn number_of_buckets_is_bounded() {
        let limiter = RateLimiter::new(RequestRate { per_second: 1.0, burst: 2.0 });
        let start = Instant::now();
        for key in 0..BUCKETS_MAX {
            assert_eq!(limiter.take(key, start), Ok(()));
        }
        assert_eq!(limiter.take(BUCKETS_MAX, start), Err(1));
        let later = start + Duration::from_secs(2);
        assert_eq!(limiter.take(BUCKETS_MAX, later), Ok(()));
    }
}
