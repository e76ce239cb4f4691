//! What was learnt elsewhere or before: other stores, files, old transcripts.
//!
//! In: the earlier program's database or its JSON, our own JSON, the transcripts of the client.
//! Out: rows of ours with their own times and projects, and a report in which every row that was
//! found is either imported or skipped for a reason.
//!
//! Invariant: everything goes through `clean` or the transcript's reader, so nothing private or
//! secret is brought in; what is here already, was forgotten or is to be ignored stays out;
//! running an import again, after it ended or was killed, leaves what one whole run would have
//! left. Every row knows its run, so that a run can be taken back. Absent on purpose: models (an
//! import costs no tokens), the network, printing.

mod clean;
pub mod earlier;
pub mod json;
mod report;
mod taker;
pub mod transcripts;

pub use clean::Unfit;
pub use report::{Report, Skipped, Tally};
pub use taker::Taker;

use std::path::Path;

use crate::hook::settings::HookSettings;
use crate::limits::UNDO_BATCH_ROWS;
use crate::paths::DataDir;
use crate::serve::lock::{self, Lock};
use crate::store::{Store, StoreError};

/// What can stand in the way of an import.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It can be read, and is something else.
    #[error("{0} is {1}")]
    NotThat(String, &'static str),
    #[error("{0}: {1}")]
    Unreadable(String, std::io::Error),
    #[error("{0}: {1}")]
    NotJson(String, serde_json::Error),
    #[error("another import is running")]
    Busy,
}

/// What every import stands on.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    pub settings: &'a HookSettings,
    /// The person's home directory, for patterns that begin with `~`.
    pub home: &'a str,
    /// Where the client keeps its own files.
    pub client_dir: &'a Path,
}

/// How far an import has come, for whoever watches.
pub trait Progress {
    /// So much is to be done in all; the unit is the import's own.
    fn total(&mut self, amount: u64);
    fn advance(&mut self, amount: u64);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Progress for Unwatched {
    fn total(&mut self, _amount: u64) {}
    fn advance(&mut self, _amount: u64) {}
}

/// Takes a whole run back. Returns how many rows that were.
pub fn undo(store: &mut Store, run: i64) -> Result<usize, StoreError> {
    let mut rows = 0;
    loop {
        let undone = store.write(|tx| tx.undo_import(run, UNDO_BATCH_ROWS))?;
        rows += undone.rows;
        if undone.done {
            return Ok(rows);
        }
    }
}

/// One import at a time: two would take each other's unfinished run for their own.
pub fn begin(dir: &DataDir) -> Result<Lock, ImportError> {
    let path = dir.import_lock();
    let unreadable = |e| ImportError::Unreadable(path.display().to_string(), e);
    lock::acquire(&path)
        .map_err(unreadable)?
        .ok_or(ImportError::Busy)
}
