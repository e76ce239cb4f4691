//! Words first, vectors second, one ranking that can explain itself.
//!
//! In: what a person or an agent typed, and a scope. Out: rows, best first, each with the parts
//! of its score.
//!
//! Invariant: whatever is typed is an answer, never an error; a row outside the scope is never
//! returned without saying so. Absent on purpose: SQL (`store::words`, `store::vectors`),
//! rendering, the clock.

pub mod allowed;
pub mod aside;
pub mod ask;
mod asked;
pub mod called;
pub mod candidates;
mod complete;
pub mod coverage;
pub mod dates;
pub mod encoder;
pub mod engine;
pub mod handle;
mod holds;
pub mod identifiers;
pub mod index;
mod items;
mod judged;
mod leads;
mod lookup;
pub mod names;
pub mod packed;
mod prefix;
pub mod query;
pub mod rank;
pub mod searcher;
pub mod stem;
pub mod subdocuments;
pub mod subject;
pub mod terms;
pub mod timeline;
mod typed;
pub mod vectors;
pub mod when;

pub use ask::{Ask, Fit, Found, Item, Order, Scope, Whose};
pub use encoder::Encoder;
pub use engine::Engine;
pub use handle::Handle;
pub use query::Query;
pub use rank::{Hit, Parts, Ranked, Ranking, RowKey, rank};
pub use searcher::{Searcher, items};
pub use vectors::{Shelves, VectorLeg};

#[cfg(test)]
mod testing;
