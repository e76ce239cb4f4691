//! One episode to its end: asked, asked again where that helps, or given up.
//!
//! In: a batch and a model. Out: memories, or a reason to let the distiller do it. Money, time
//! and chance are the caller's, behind `Purse` and `Around`.
//!
//! Invariant: it returns within `MODEL_EPISODE_SECONDS_MAX`, after at most `MODEL_ATTEMPTS_MAX`
//! calls, each of them reserved before and settled after.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::batch::{Batch, Next};
use super::budget::{NotNow, Spend};
use super::ladder::{Advice, Ladder};
use super::model::Model;
use crate::clock::Millis;
use crate::limits::{
    BUDGET_WAIT_MS, MODEL_ATTEMPTS_MAX, MODEL_CALL_SECONDS_MAX, MODEL_CALL_SECONDS_MIN,
    MODEL_EPISODE_SECONDS_MAX,
};
use crate::memory::Distilled;

/// Where tokens are reserved and accounted for.
pub trait Purse {
    /// Reserves this many, in one transaction with the look at the budget.
    fn reserve(&self, tokens: u64) -> Result<i64, Denied>;
    /// Says what a reserved call did cost. `word` names how it went.
    fn settle(&self, reservation: i64, spend: Spend, word: &'static str);
}

#[derive(Debug)]
pub enum Denied {
    Budget(NotNow),
    /// The books cannot be read or written: nothing may be spent.
    Books(String),
}

/// What the worker lends.
pub trait Around {
    fn now(&self) -> Millis;
    fn random(&self) -> u8;
    /// How long one call may take.
    fn call_max(&self) -> Duration {
        Duration::from_secs(MODEL_CALL_SECONDS_MAX)
    }
    /// Waits; false if the worker is to end.
    fn wait(&self, pause: Duration) -> bool;
}

/// How an episode ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Driven {
    Made(Box<Distilled>),
    /// The local distiller takes it.
    HandOver {
        why: String,
    },
    /// The worker ends; nothing happened.
    Interrupted,
}

/// Asks a model about one episode until there is a decision.
pub fn drive(
    batch: &Batch<'_>,
    model: &mut dyn Model,
    ladder: &Mutex<Ladder>,
    purse: &dyn Purse,
    around: &dyn Around,
) -> Driven {
    let until = Instant::now() + Duration::from_secs(MODEL_EPISODE_SECONDS_MAX);
    lock(ladder).new_work(batch.came_in());
    let mut attempts = 0;
    while attempts < MODEL_ATTEMPTS_MAX {
        let left = until.saturating_duration_since(Instant::now());
        let advice = lock(ladder).advice(around.now());
        let pause = match advice {
            Advice::HandOver { why } => return Driven::HandOver { why },
            Advice::WaitUntil(then) => millis(then - around.now()),
            Advice::Ask => match purse.reserve(batch.estimate(model).total()) {
                Ok(reservation) => {
                    let deadline = left.min(around.call_max());
                    let outcome = batch.run(model, attempts, deadline, around.now());
                    purse.settle(reservation, outcome.spend, outcome.word);
                    outcome.tell(&mut lock(ladder), around.now(), around.random());
                    attempts += 1;
                    match outcome.next {
                        Next::Store(distilled) => return Driven::Made(distilled),
                        Next::HandOver { why } => return Driven::HandOver { why },
                        Next::Later { .. } => continue,
                    }
                }
                Err(Denied::Budget(NotNow::Wait)) => Duration::from_millis(BUDGET_WAIT_MS),
                Err(Denied::Budget(used_up)) => {
                    return Driven::HandOver {
                        why: used_up.to_string(),
                    };
                }
                Err(Denied::Books(why)) => return Driven::HandOver { why },
            },
        };
        if pause + Duration::from_secs(MODEL_CALL_SECONDS_MIN) > left {
            return Driven::HandOver {
                why: "the model is out for longer than work can wait".into(),
            };
        }
        if !around.wait(pause) {
            return Driven::Interrupted;
        }
    }
    Driven::HandOver {
        why: "the model failed too often".into(),
    }
}

fn lock(ladder: &Mutex<Ladder>) -> MutexGuard<'_, Ladder> {
    // Every state of a ladder is a whole one.
    ladder.lock().unwrap_or_else(PoisonError::into_inner)
}

fn millis(wait: i64) -> Duration {
    Duration::from_millis(u64::try_from(wait).unwrap_or(0))
}

#[cfg(test)]
#[path = "driver_tests.rs"]
mod tests;
