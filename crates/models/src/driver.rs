//! The retry loop of one episode: calls the model until there is a [`ModelOutcome`].
//!
//! [`compress_with_model`] takes a [`CompressionRequest`] and a [`LanguageModel`]. Token accounting
//! is behind [`TokenBudget`]; wall-clock time, randomness and waiting are behind [`CallEnv`].
//!
//! Invariant: it returns within [`MODEL_EPISODE_SECONDS_MAX`], after at most `MODEL_ATTEMPTS_MAX`
//! calls, each reserved before and settled after.

use crate::limits::MODEL_ATTEMPTS_MAX;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::batch::{CallOutcome, CompressionRequest, NextAction};
use super::budget::{BudgetDenial, TokenSpend};
use super::model::LanguageModel;
use crate::backoff::{Backoff, BackoffAdvice};
use crate::trouble::CallTrouble;
use claude_mem_core::clock::Millis;
use claude_mem_core::limits::{MODEL_CALL_SECONDS_MAX, MODEL_CALL_SECONDS_MIN, MODEL_EPISODE_SECONDS_MAX};
use claude_mem_core::memory::CompressionOutput;
use claude_mem_core::sync::lock;

/// Milliseconds that a session waits for another session's call when the budget is nearly used up.
pub(crate) const BUDGET_WAIT_MS: u64 = 500;

/// Reserves tokens and records what calls cost.
pub trait TokenBudget {
    /// Checks the budget and reserves the tokens in one transaction. Returns the reservation's id.
    fn reserve(&self, tokens: u64) -> Result<i64, ReservationDenied>;
    /// Records what a reserved call cost. `word` is the status of the call.
    fn settle(&self, reservation: i64, spend: TokenSpend, word: &'static str);
}

/// Why tokens were not reserved.
#[derive(Debug)]
pub enum ReservationDenied {
    Budget(BudgetDenial),
    /// The settings have changed: this model, address or budget is no longer the configured one.
    Reconfigured,
    /// The ledger cannot be read or written, so nothing may be spent.
    Ledger(String),
}

/// The worker's side of a call: clock, randomness and interruptible waits.
pub trait CallEnv {
    fn now(&self) -> Millis;
    /// A random byte, for the jitter of the backoff.
    fn random_byte(&self) -> u8;
    /// Timeout of one call.
    fn call_max(&self) -> Duration {
        Duration::from_secs(MODEL_CALL_SECONDS_MAX)
    }
    /// Waits. Returns false if the worker is shutting down.
    fn wait(&self, pause: Duration) -> bool;
    /// Notes a failure that concerns more than one episode.
    fn call_failed(&self, _trouble: &CallTrouble) {}
    /// Notes a usable answer.
    fn call_succeeded(&self) {}
}

/// The result of compressing one episode with a model.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelOutcome {
    Compressed(Box<CompressionOutput>),
    /// Use the heuristic compressor.
    FallBack {
        why: String,
    },
    /// The worker is shutting down, or the settings have changed. The episode is unchanged.
    Interrupted,
}

/// Calls the model about one episode until it succeeds, is to be abandoned, or is interrupted.
pub fn compress_with_model(
    batch: &CompressionRequest<'_>,
    model: &mut dyn LanguageModel,
    backoff: &Mutex<Backoff>,
    purse: &dyn TokenBudget,
    around: &dyn CallEnv,
) -> ModelOutcome {
    let until = Instant::now() + Duration::from_secs(MODEL_EPISODE_SECONDS_MAX);
    lock(backoff).new_work(batch.newest_at());
    let mut attempts = 0;
    while attempts < MODEL_ATTEMPTS_MAX {
        let left = until.saturating_duration_since(Instant::now());
        let advice = lock(backoff).advice(around.now());
        let pause = match advice {
            BackoffAdvice::FallBack { why } => return ModelOutcome::FallBack { why },
            BackoffAdvice::WaitUntil(then) => wait_duration(then - around.now()),
            BackoffAdvice::Ask => match purse.reserve(batch.estimate(model).total()) {
                Ok(reservation) => {
                    let deadline = left.min(around.call_max());
                    let outcome = batch.ask_once(model, attempts, deadline, around.now());
                    purse.settle(reservation, outcome.spend, outcome.status);
                    outcome.update_backoff(&mut lock(backoff), around.now(), around.random_byte());
                    report_outcome(&outcome, around);
                    attempts += 1;
                    match outcome.next {
                        NextAction::Store(distilled) => return ModelOutcome::Compressed(distilled),
                        NextAction::FallBack { why } => return ModelOutcome::FallBack { why },
                        NextAction::Retry { .. } => continue,
                    }
                }
                Err(ReservationDenied::Budget(BudgetDenial::Wait)) => Duration::from_millis(BUDGET_WAIT_MS),
                Err(ReservationDenied::Budget(BudgetDenial::Exhausted(scope))) => {
                    around.call_failed(&CallTrouble::from_budget(scope));
                    let why = BudgetDenial::Exhausted(scope).to_string();
                    return ModelOutcome::FallBack { why };
                }
                Err(ReservationDenied::Reconfigured) => return ModelOutcome::Interrupted,
                Err(ReservationDenied::Ledger(why)) => return ModelOutcome::FallBack { why },
            },
        };
        if pause + Duration::from_secs(MODEL_CALL_SECONDS_MIN) > left {
            return ModelOutcome::FallBack {
                why: "the model is unavailable for longer than an episode can wait".into(),
            };
        }
        if !around.wait(pause) {
            return ModelOutcome::Interrupted;
        }
    }
    ModelOutcome::FallBack { why: "the model failed too often".into() }
}

fn report_outcome(outcome: &CallOutcome, around: &dyn CallEnv) {
    match outcome.trouble() {
        Some(trouble) => around.call_failed(&trouble),
        None if outcome.is_success() => around.call_succeeded(),
        None => {}
    }
}

fn wait_duration(wait: i64) -> Duration {
    Duration::from_millis(u64::try_from(wait).unwrap_or(0))
}

#[cfg(test)]
#[path = "driver_tests.rs"]
mod tests;
