//! Rows on their way to or from another store.
//!
//! In: a page of our own rows, or rows that somebody else wrote. Out: the same rows with public
//! ids in the place of numbers, or rows of ours.
//!
//! Invariant: a public id is brought in once. What was forgotten stays forgotten, what was not to
//! be remembered is not, and a row that is here already is never changed by one that comes.

mod bring;
mod rows;
mod send;

pub use bring::{Brought, Placed};
pub use rows::{
    MessageRecord, ObservationRecord, ProjectRecord, PromptRecord, SessionRecord, SummaryRecord,
};
