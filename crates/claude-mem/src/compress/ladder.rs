//! When a provider may be asked again: 1 s, 2 s, 4 s, then not until there is new work.
//!
//! A state machine without I/O, one per provider; time and chance are passed in.

use std::time::Duration;

use super::model::ModelError;
use crate::clock::Millis;
use crate::limits::{
    LADDER_SECONDS, PAUSE_AUTH_SECONDS, PAUSE_QUOTA_SECONDS, PAUSE_WAITED_SECONDS_MAX,
};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ladder {
    /// Failures in a row.
    failures: usize,
    state: State,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ready,
    Waiting {
        until: Millis,
    },
    /// All steps are used up.
    Stopped {
        at: Millis,
        why: String,
    },
    /// Asking again makes no sense before something changes.
    Paused {
        until: Millis,
        why: String,
    },
}

/// What to do with work that is ready now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    Ask,
    WaitUntil(Millis),
    /// The provider is out for longer than work should wait: the local distiller takes it.
    HandOver {
        why: String,
    },
}

impl Ladder {
    pub fn advice(&self, now: Millis) -> Advice {
        match &self.state {
            State::Waiting { until } if now < *until => Advice::WaitUntil(*until),
            State::Paused { until, .. } if now < *until && soon(*until, now) => {
                Advice::WaitUntil(*until)
            }
            State::Paused { until, why } if now < *until => Advice::HandOver { why: why.clone() },
            State::Stopped { why, .. } => Advice::HandOver { why: why.clone() },
            State::Ready | State::Waiting { .. } | State::Paused { .. } => Advice::Ask,
        }
    }

    pub fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// There is work that came in at this time. If that is after the provider was given up, it
    /// gets one more try; a backlog from before is no reason for one.
    pub fn new_work(&mut self, came_in: Millis) {
        if matches!(self.state, State::Stopped { at, .. } if came_in > at) {
            self.state = State::Ready;
        }
    }

    /// The user changed something, a key perhaps: what was true of the old one is forgotten.
    pub fn settings_changed(&mut self) {
        *self = Self::default();
    }

    /// An answer that could not be used is a failure like no answer.
    pub fn answered_nonsense(&mut self, why: &str, now: Millis, random: u8) {
        self.climb(why, None, now, random);
    }

    /// `random` is any byte; it spreads those who failed together.
    pub fn failed(&mut self, error: &ModelError, now: Millis, random: u8) {
        match error.cause() {
            // The provider works; it is this request that it will not serve.
            ModelError::Refused { .. } | ModelError::Rejected { .. } | ModelError::TooLong => {}
            ModelError::Quota { after, .. } => {
                let after = after.unwrap_or(Duration::from_secs(PAUSE_QUOTA_SECONDS));
                self.pause(error, after, now);
            }
            ModelError::Auth { .. } | ModelError::Misconfigured { .. } => {
                self.pause(error, Duration::from_secs(PAUSE_AUTH_SECONDS), now);
            }
            ModelError::Retry { after, .. } => self.climb(&error.to_string(), *after, now, random),
            ModelError::Unreachable { .. }
            | ModelError::TimedOut
            | ModelError::Garbled { .. }
            | ModelError::Charged { .. } => {
                self.climb(&error.to_string(), None, now, random);
            }
        }
    }

    /// Why the provider is not asked, for `status`.
    pub fn trouble(&self, now: Millis) -> Option<(&str, Option<Millis>)> {
        match &self.state {
            State::Paused { until, why } if now < *until => Some((why, Some(*until))),
            State::Stopped { why, .. } => Some((why, None)),
            _ => None,
        }
    }

    fn pause(&mut self, error: &ModelError, after: Duration, now: Millis) {
        let until = plus(now, after);
        self.state = State::Paused {
            until,
            why: error.to_string(),
        };
    }

    fn climb(&mut self, why: &str, at_least: Option<Duration>, now: Millis, random: u8) {
        self.state = match LADDER_SECONDS.get(self.failures) {
            Some(seconds) => {
                let wait = backoff(*seconds, random).max(at_least.unwrap_or_default());
                State::Waiting {
                    until: plus(now, wait),
                }
            }
            None => State::Stopped {
                at: now,
                why: why.to_owned(),
            },
        };
        self.failures += 1;
    }
}

/// A step of the ladder and up to a quarter more.
fn backoff(seconds: u64, random: u8) -> Duration {
    let millis = seconds * 1_000;
    Duration::from_millis(millis + millis * u64::from(random) / 4 / u64::from(u8::MAX))
}

fn soon(until: Millis, now: Millis) -> bool {
    until - now <= PAUSE_WAITED_SECONDS_MAX * 1_000
}

fn plus(now: Millis, wait: Duration) -> Millis {
    let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
    Millis(now.0.saturating_add(wait))
}

#[cfg(test)]
#[path = "ladder_tests.rs"]
mod tests;
