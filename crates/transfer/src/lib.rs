//! Import of memories from elsewhere and export of our own.
//!
//! [`import`] reads transcripts, JSON exports and databases of the earlier claude-mem; its
//! [`ImportWriter`](import::ImportWriter) stores the rows of one numbered run. [`export`] writes JSON that
//! can be read back, and Markdown for people and for git.
//!
//! Invariants: nothing is imported twice, nothing private or secret comes in, and a run can be undone. The
//! same rows always export to the same bytes. No model is called and nothing is printed.

pub mod export;
pub mod import;
