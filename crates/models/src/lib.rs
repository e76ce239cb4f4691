//! Compression by a language model.
//!
//! A [`CompressionRequest`](batch::CompressionRequest) holds a redacted episode and the session's
//! [`RollingSummary`](rolling::RollingSummary); [`compress_with_model`](driver::compress_with_model)
//! sends it to a [`LanguageModel`](model::LanguageModel) within the
//! [`TokenBudget`](driver::TokenBudget), retries under the [`Backoff`](backoff::Backoff), and returns
//! observations and a summary, or the decision to fall back to heuristics. [`answer`] parses what the
//! model wrote and [`grounding`] checks it against the episode.
//!
//! Invariant: no call is made without a reservation, no text outside the requested tags is kept, and
//! no wait lacks a deadline. This crate knows neither the store nor the queue; wall-clock time,
//! randomness and waiting come from the caller. It is called from plain threads.

pub mod answer;
pub mod backoff;
pub mod batch;
pub mod budget;
pub mod driver;
#[cfg(test)]
mod fuzz;
pub mod grounding;
mod item;
mod limits;
pub mod model;
pub mod prompt;
mod quote;
pub mod rolling;
pub mod scanner;
pub mod session_cost;
mod steps;
mod text;
pub mod trouble;
mod truncate_middle;
mod words;
