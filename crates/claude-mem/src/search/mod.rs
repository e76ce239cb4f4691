//! Words first, vectors second, one ranking that can explain itself.
//!
//! In: what a person or an agent typed, and a scope. Out: rows, best first, each with the parts
//! of its score.
//!
//! Invariant: whatever is typed is an answer, never an error; a row outside the scope is never
//! returned without saying so. Absent on purpose: SQL (`store::words`, `store::vectors`),
//! rendering, the clock.

pub mod query;
pub mod rank;
pub mod stem;
pub mod terms;

pub use query::Query;
pub use rank::{Hit, Parts, Ranking, rank};
