//! Cues: phrases that show what a sentence does, such as stating a rule, naming a cause or making an offer.
//!
//! Each language has one [`CueTable`](table::CueTable). A phrase that ends in `*` also matches longer words
//! (`mandat*`). In languages that write spaces a phrase matches only between word boundaries.
//! [`mark`] finds the cues of a sentence, [`Language::detect`] chooses the table.

mod de;
mod en;
mod es;
mod fr;
mod ja;
mod language;
mod ru;
mod scanner;
mod table;
mod zh;

pub use language::Language;
pub(crate) use scanner::{CueMarks, after_opening, mark};
pub(crate) use table::CueKind;

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
