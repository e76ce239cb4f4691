//! Exports the store, or one project of it, as JSON or Markdown.
//!
//! [`json`] writes one document that `import json` reads back without loss; [`markdown`] writes
//! readable pages that diff well. Rows are read a page at a time, and nothing is printed. Data that
//! can be rebuilt or belongs to this machine is not exported: vectors, the queue, spending, feedback.
//!
//! Invariant: the same rows give the same bytes, wherever and whenever they are written, except for
//! the export time in the JSON document.

pub mod json;
pub mod markdown;

use claude_mem_core::ids::ProjectId;
use claude_mem_store::StoreError;

/// The rows of an export.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExportScope {
    /// Only this project.
    pub project: Option<ProjectId>,
    /// Also what other members of the team shared, under their names.
    pub with_team: bool,
}

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}: {1}")]
    Write(String, std::io::Error),
}

/// Name of the JSON document format.
pub const FORMAT: &str = "claude-mem";
/// Version of the format. Adding a field keeps the version; a change that an older reader would
/// misread needs a new one.
pub const VERSION: u32 = 1;
