//! [`HookDatabase`]: the database as one hook uses it.
//!
//! Opening makes SQLite parse the whole schema, which costs more than the rest of a hook.
//!
//! Invariant: a hook opens the database at most once, and only when it first needs it.

use std::path::Path;
use std::time::Duration;

use claude_mem_core::limits::{HOOK_BUSY_MS, HOOK_NOTE_BUSY_MS};
use claude_mem_core::paths::DataDir;
use claude_mem_store::{Inbox, StoreError};

/// The database of one hook: not opened before its first use, then kept open.
#[derive(Debug)]
pub struct HookDatabase<'a> {
    dir: &'a DataDir,
    inbox: Option<Inbox>,
}

impl<'a> HookDatabase<'a> {
    pub const fn new(dir: &'a DataDir) -> Self {
        Self { dir, inbox: None }
    }

    pub const fn dir(&self) -> &'a DataDir {
        self.dir
    }

    /// The connection of a hook that reads. `None` if there is no database yet.
    pub fn existing(&mut self) -> Result<Option<&mut Inbox>, StoreError> {
        match self.opened(Inbox::open_existing) {
            Err(StoreError::Missing) => Ok(None),
            inbox => inbox.map(Some),
        }
    }

    /// The connection for writes that can also be done later. Creates a missing database.
    pub fn writable(&mut self) -> Result<&mut Inbox, StoreError> {
        let inbox = self.opened(Inbox::open_short_wait)?;
        inbox.set_busy_wait(Duration::from_millis(HOOK_NOTE_BUSY_MS))?;
        Ok(inbox)
    }

    /// The connection for a write that must not be lost: waits longer for another writer.
    pub fn writable_patiently(&mut self) -> Result<&mut Inbox, StoreError> {
        let inbox = self.opened(Inbox::open)?;
        inbox.set_busy_wait(Duration::from_millis(HOOK_BUSY_MS))?;
        Ok(inbox)
    }

    fn opened(&mut self, open: fn(&Path) -> Result<Inbox, StoreError>) -> Result<&mut Inbox, StoreError> {
        let inbox = match self.inbox.take() {
            Some(inbox) => inbox,
            None => {
                let inbox = open(&self.dir.db())?;
                #[cfg(test)]
                testing::OPENED.set(testing::OPENED.get() + 1);
                inbox
            }
        };
        Ok(self.inbox.insert(inbox))
    }

    /// Closes the connection, if there is one.
    pub fn close(self) -> Result<(), StoreError> {
        self.inbox.map_or(Ok(()), Inbox::close)
    }

    /// Closes the connection of a process that exits right after this.
    pub fn close_at_exit(self) -> Result<(), StoreError> {
        self.inbox.map_or(Ok(()), Inbox::close_at_exit)
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use std::cell::Cell;

    thread_local! {
        /// How often this thread has opened a database.
        pub(crate) static OPENED: Cell<u32> = const { Cell::new(0) };
    }
}
