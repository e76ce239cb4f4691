//! [`HookResources`]: what one hook opens at most once.

use crate::hook_database::HookDatabase;
use crate::hook_log;
use crate::ipc::worker_link::WorkerLink;
use claude_mem_core::clock::Micros;
use claude_mem_core::paths::DataDir;
use claude_mem_store::{Inbox, StoreError};

/// Whether the process that handles a hook call exits right after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessLifetime {
    /// A hook: the exit releases the connection.
    EndsWithCall,
    /// The worker, which handles payloads that arrive over HTTP.
    Continues,
}

/// The data directory of one hook call, with its database and its connection to the worker. Both are
/// opened at their first use.
#[derive(Debug)]
pub(super) struct HookResources<'a> {
    pub(super) dir: &'a DataDir,
    pub(super) started: Micros,
    pub(super) database: HookDatabase<'a>,
    pub(super) worker: WorkerLink,
}

impl HookResources<'_> {
    pub(super) fn log(&self, text: &str) {
        hook_log::log_warning(self.dir, self.started, text);
    }

    /// Performs a write that the response does not depend on. Logs a failure and returns `None`.
    pub(super) fn write_best_effort<T>(
        &mut self,
        what: &str,
        write: impl FnOnce(&mut Inbox) -> Result<T, StoreError>,
    ) -> Option<T> {
        match self.database.writable().and_then(write) {
            Ok(written) => Some(written),
            Err(e) => {
                self.log(&format!("{what} not recorded: {e}"));
                None
            }
        }
    }

    /// Closes the database. Dropping the worker link afterwards wakes the worker, if it is connected and had no request.
    pub(super) fn close(self, lifetime: ProcessLifetime) {
        let (dir, started) = (self.dir, self.started);
        let closed = match lifetime {
            ProcessLifetime::EndsWithCall => self.database.close_at_exit(),
            ProcessLifetime::Continues => self.database.close(),
        };
        if let Err(e) = closed {
            hook_log::log_warning(dir, started, &format!("failed to close the database: {e}"));
        }
    }
}
