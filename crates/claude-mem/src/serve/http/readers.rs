//! Connections that only read, kept for the next request.
//!
//! Invariant: a look is of one moment, and of the file that lies there now: connections to a
//! database that was replaced by a recovered one are dropped.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::limits::HTTP_REQUESTS_AT_ONCE_MAX;
use crate::paths::DataDir;
use crate::store::{Reads, Store, StoreError};

/// Which file a connection is to, whatever its name.
pub(super) type FileId = (u64, u64);

pub(super) fn file_id(path: &std::path::Path) -> Option<FileId> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

#[derive(Debug)]
pub(super) struct Readers {
    db: PathBuf,
    idle: Mutex<Vec<(FileId, Store)>>,
}

impl Readers {
    pub(super) fn of(dir: &DataDir) -> Self {
        Self {
            db: dir.db(),
            idle: Mutex::default(),
        }
    }

    pub(super) fn view<T>(
        &self,
        look: impl FnOnce(&Reads<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let file = file_id(&self.db).ok_or(StoreError::Missing)?;
        let kept = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.retain(|(of, _)| *of == file);
            idle.pop()
        };
        let store = match kept {
            Some((_, store)) => store,
            None => Store::open_read_only(&self.db)?,
        };
        let seen = store.view(look)?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < HTTP_REQUESTS_AT_ONCE_MAX {
            idle.push((file, store));
        }
        Ok(seen)
    }
}
