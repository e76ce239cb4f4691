//! Backoff and circuit breaker of a provider: retry after 1, 2 and 4 seconds, then not before new
//! work arrives.
//!
//! [`Backoff`] is a state machine without I/O, one per provider; time and randomness are passed in.
//! Quota and credential errors pause the provider for longer.

use std::time::Duration;

use super::model::ModelError;
use claude_mem_core::clock::Millis;
use claude_mem_core::limits::{LADDER_SECONDS, PAUSE_WAITED_SECONDS_MAX};

/// Seconds that a provider is paused after an authentication or configuration error. We are not
/// notified of a new login, so we try again.
pub(crate) const PAUSE_AUTH_SECONDS: u64 = 30 * 60;

/// Seconds that a provider is paused after its quota is used up, unless it names a time itself.
const PAUSE_QUOTA_SECONDS: u64 = 60 * 60;

/// Decides when a provider may be called again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Backoff {
    /// Consecutive failures.
    failures: usize,
    state: BackoffState,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum BackoffState {
    #[default]
    Ready,
    /// Waiting before a retry.
    Waiting { until: Millis },
    /// All retries failed: the circuit is open until new work arrives.
    Stopped { at: Millis, why: String },
    /// A quota or the credentials are the problem: a retry before `until` is pointless.
    Paused { until: Millis, why: String },
}

/// The next step for an episode that is ready now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackoffAdvice {
    Ask,
    WaitUntil(Millis),
    /// The provider is unavailable for longer than an episode may wait: use heuristics.
    FallBack {
        why: String,
    },
}

impl Backoff {
    /// Whether to call the provider now, later, or not for this episode.
    pub fn advice(&self, now: Millis) -> BackoffAdvice {
        match &self.state {
            BackoffState::Waiting { until } if now < *until => BackoffAdvice::WaitUntil(*until),
            BackoffState::Paused { until, .. } if now < *until && is_soon(*until, now) => {
                BackoffAdvice::WaitUntil(*until)
            }
            BackoffState::Paused { until, why } if now < *until => {
                BackoffAdvice::FallBack { why: why.clone() }
            }
            BackoffState::Stopped { why, .. } => BackoffAdvice::FallBack { why: why.clone() },
            BackoffState::Ready | BackoffState::Waiting { .. } | BackoffState::Paused { .. } => {
                BackoffAdvice::Ask
            }
        }
    }

    /// Records a usable answer: the backoff starts over.
    pub fn record_success(&mut self) {
        *self = Self::default();
    }

    /// Notes an episode that ended at `came_in`. If the circuit opened before that, the provider gets
    /// one more attempt; a backlog from before gets none.
    pub fn new_work(&mut self, came_in: Millis) {
        if matches!(self.state, BackoffState::Stopped { at, .. } if came_in > at) {
            self.state = BackoffState::Ready;
        }
    }

    /// Records an invalid answer, which counts like a failed call.
    pub fn record_invalid_answer(&mut self, why: &str, now: Millis, random: u8) {
        self.record_failure(why, None, now, random);
    }

    /// Records a failed call. `random` is any byte; it adds jitter, which spreads simultaneous
    /// failures.
    pub fn record_error(&mut self, error: &ModelError, now: Millis, random: u8) {
        match error.cause() {
            // The provider works; only this request is rejected.
            ModelError::Refused { .. } | ModelError::Rejected { .. } | ModelError::TooLong => {}
            ModelError::Quota { after, .. } => {
                let after = after.unwrap_or(Duration::from_secs(PAUSE_QUOTA_SECONDS));
                self.pause_for(error, after, now);
            }
            ModelError::Auth { .. } | ModelError::Misconfigured { .. } => {
                self.pause_for(error, Duration::from_secs(PAUSE_AUTH_SECONDS), now);
            }
            ModelError::Retry { after, .. } => self.record_failure(&error.to_string(), *after, now, random),
            ModelError::Unreachable { .. }
            | ModelError::TimedOut
            | ModelError::Garbled { .. }
            | ModelError::Charged { .. } => {
                self.record_failure(&error.to_string(), None, now, random);
            }
        }
    }

    fn pause_for(&mut self, error: &ModelError, after: Duration, now: Millis) {
        let until = plus(now, after);
        self.state = BackoffState::Paused { until, why: error.to_string() };
    }

    fn record_failure(&mut self, why: &str, at_least: Option<Duration>, now: Millis, random: u8) {
        self.state = match LADDER_SECONDS.get(self.failures) {
            Some(seconds) => {
                let wait = jittered_wait(*seconds, random).max(at_least.unwrap_or_default());
                BackoffState::Waiting { until: plus(now, wait) }
            }
            None => BackoffState::Stopped { at: now, why: why.to_owned() },
        };
        self.failures += 1;
    }
}

/// The wait of one retry, plus up to a quarter of it as jitter.
fn jittered_wait(seconds: u64, random: u8) -> Duration {
    let millis = seconds * 1_000;
    Duration::from_millis(millis + millis * u64::from(random) / 4 / u64::from(u8::MAX))
}

fn is_soon(until: Millis, now: Millis) -> bool {
    until - now <= PAUSE_WAITED_SECONDS_MAX * 1_000
}

fn plus(now: Millis, wait: Duration) -> Millis {
    let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
    Millis(now.0.saturating_add(wait))
}

#[cfg(test)]
#[path = "backoff_tests.rs"]
mod tests;
