//! Import runs: only one at a time ([`acquire_import_lock`]), and each can be undone ([`undo_run`]).

use super::import_context::ImportError;
use claude_mem_capture::ipc::lock;
use claude_mem_capture::ipc::lock::WorkerLock;
use claude_mem_core::paths::DataDir;
use claude_mem_store::{Store, StoreError};

/// Rows that undoing an import removes in one transaction. Hooks wait for no more than one such
/// transaction.
const UNDO_BATCH_ROWS: u32 = 32;

/// Undoes a whole run. Returns the number of removed rows.
pub fn undo_run(store: &mut Store, run: i64) -> Result<usize, StoreError> {
    let mut rows = 0;
    loop {
        let undone = store.write(|tx| tx.undo_import(run, UNDO_BATCH_ROWS))?;
        rows += undone.rows;
        if undone.done {
            return Ok(rows);
        }
    }
}

/// Acquires the import lock. Only one import runs at a time: two would resume each other's unfinished
/// run.
pub fn acquire_import_lock(dir: &DataDir) -> Result<WorkerLock, ImportError> {
    let path = dir.import_lock();
    let unreadable = |e| ImportError::Unreadable(path.display().to_string(), e);
    lock::acquire(&path).map_err(unreadable)?.ok_or(ImportError::Busy)
}
