//! Words first, vectors second, one ranking that can explain itself.
//!
//! In: what a person or an agent typed, and a scope. Out: rows, best first, each with the parts
//! of its score.
//!
//! Invariant: whatever is typed is an answer, never an error; a row outside the scope is never
//! returned without saying so. Absent on purpose: SQL (`store::words`, `store::vectors`),
//! rendering, the clock.

pub mod candidates;
pub mod coverage;
pub mod encoder;
pub mod index;
pub mod packed;
pub mod query;
pub mod rank;
pub mod stem;
pub mod subdocuments;
pub mod terms;
pub mod vectors;

pub use encoder::Encoder;
pub use query::Query;
pub use rank::{Hit, Parts, Ranked, Ranking, RowKey, rank};
pub use vectors::{Shelves, VectorLeg};

#[cfg(test)]
mod testing;
