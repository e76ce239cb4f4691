//! Memory as files: everything for another store, or what a person would read.
//!
//! In: the store, or one project of it. Out: one JSON document that `import json` reads back
//! without loss, or Markdown that diffs well.
//!
//! Invariant: the same memory gives the same bytes, wherever and whenever it is written, but for
//! the one line of the JSON that says when. Rows are read a page at a time. Absent on purpose:
//! printing, and whatever can be made again or belongs to this machine: vectors, the queue, what
//! was spent, what was shown to whom.

pub mod json;
pub mod markdown;

use crate::store::StoreError;

/// What can stand in the way of an export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}: {1}")]
    Write(String, std::io::Error),
}

/// The document's own name, and the version of it that is written here. Fields may be added to
/// a version; whatever an older reader would misunderstand makes a new one.
pub const FORMAT: &str = "claude-mem";
pub const VERSION: u32 = 1;
