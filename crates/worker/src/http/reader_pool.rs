//! [`ReaderPool`]: read-only database connections, reused between requests.
//!
//! Invariant: a view is one consistent snapshot of the current database file. Connections to a
//! file that was replaced, as recovery does, are dropped.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Mutex;

use claude_mem_core::limits::HTTP_REQUESTS_AT_ONCE_MAX;
use claude_mem_core::paths::DataDir;
use claude_mem_core::sync::lock;
use claude_mem_store::{Store, StoreError, StoreReader};

/// Device and inode, which identify a file whatever its name.
pub(super) type FileId = (u64, u64);

/// The identity of the file at this path, `None` if there is none.
pub(super) fn file_id(path: &std::path::Path) -> Option<FileId> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

/// A pool of read-only connections.
#[derive(Debug)]
pub(super) struct ReaderPool {
    db: PathBuf,
    idle: Mutex<Vec<(FileId, Store)>>,
}

impl ReaderPool {
    /// A pool for the database of this data directory.
    pub(super) fn new(dir: &DataDir) -> Self {
        Self { db: dir.db(), idle: Mutex::default() }
    }

    /// Runs a read on one consistent snapshot.
    pub(super) fn view<T>(
        &self,
        look: impl FnOnce(&StoreReader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let file = file_id(&self.db).ok_or(StoreError::Missing)?;
        let kept = {
            let mut idle = lock(&self.idle);
            idle.retain(|(of, _)| *of == file);
            idle.pop()
        };
        let store = match kept {
            Some((_, store)) => store,
            None => Store::open_read_only(&self.db)?,
        };
        let seen = store.read_snapshot(look)?;
        let mut idle = lock(&self.idle);
        if idle.len() < HTTP_REQUESTS_AT_ONCE_MAX {
            idle.push((file, store));
        }
        Ok(seen)
    }
}
