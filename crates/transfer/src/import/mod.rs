//! Imports memories from the legacy program's database or JSON, our own JSON, client transcripts, and the client's
//! own memory files.
//!
//! Imported rows keep their original times and projects. [`ImportWriter`] stores them, and the
//! [`ImportReport`] counts every row that was found as either imported or skipped for a
//! [`ImportSkipReason`].
//!
//! Invariant: every row goes through `clean` or the transcript reader, so nothing private or secret is
//! imported. Rows that are present, forgotten or ignored are skipped. Repeating an import, after it
//! finished or was killed, gives the same result as one complete run. Every row records its run, so
//! that a run can be undone. An import uses no model (it costs no tokens) and no network, and prints
//! nothing.

mod clean;
mod foreign_rows;
mod import_context;
mod import_run;
mod import_writer;
pub mod json;
pub mod legacy;
mod memory_file_sections;
pub mod memory_files;
mod report;
pub mod transcripts;

pub use clean::{CleanRejection, clean_account, clean_observation};
pub use import_context::{ImportContext, ImportError, ImportProgress, NoProgress, SourceTrust};
pub use import_run::{acquire_import_lock, undo_run};
pub use import_writer::ImportWriter;
pub use report::{ImportReport, ImportSkipReason, ImportTally};
