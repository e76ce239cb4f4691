//! Memories made by a model.
//!
//! In: an episode, redacted, and what is known of its session. Out: observations and a summary,
//! or what to do instead: try again later, wait, or let the local distiller take over.
//!
//! Invariant: nothing is spent that was not reserved, nothing is kept that does not stand in the
//! contract's tags, nothing waits without a deadline. Absent on purpose: the store, the queue,
//! any clock, any sleep. The worker calls this from plain threads and decides when.

pub mod answer;
pub mod batch;
pub mod budget;
pub mod driver;
mod elide;
pub mod fuzz;
pub mod ground;
mod item;
pub mod ladder;
pub mod model;
pub mod prompt;
mod quote;
pub mod rolling;
pub mod scanner;
mod steps;
mod text;
