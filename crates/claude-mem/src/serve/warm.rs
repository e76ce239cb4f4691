//! The store and its vectors, opened for looking and kept so: whoever asks a second time waits
//! for neither.
//!
//! Invariant: one question at a time, on a connection of its own that cannot write. What was
//! replaced on disk (a recovered store, rebuilt vectors) is opened anew before the next answer.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::limits::WARM_SECONDS;
use crate::paths::DataDir;
use crate::search::Engine;
use crate::store::{Store, StoreError};

/// An engine that opens itself when it is asked and closes when nobody asks any more.
#[derive(Debug)]
pub struct Warm {
    dir: DataDir,
    vectors: bool,
    slot: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    engine: Engine,
    files: Files,
    used: Instant,
}

/// Which files were opened, not what they are called.
type Files = (Option<u64>, Option<u64>);

impl Warm {
    /// Without `vectors`, words alone.
    pub fn new(dir: DataDir, vectors: bool) -> Self {
        Self {
            dir,
            vectors,
            slot: Mutex::new(None),
        }
    }

    /// Asks something of the engine.
    pub fn with<T>(
        &self,
        ask: impl FnOnce(&mut Engine) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        let files = self.files();
        let kept = slot.take().filter(|open| open.files == files);
        let open = match kept {
            Some(open) => open,
            None => self.open(files)?,
        };
        let open = slot.insert(open);
        open.used = Instant::now();
        ask(&mut open.engine)
    }

    /// Gives memory and files back if nobody has asked for a while.
    pub fn rest(&self, now: Instant) {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        let long = Duration::from_secs(WARM_SECONDS);
        slot.take_if(|open| now.saturating_duration_since(open.used) >= long);
    }

    fn files(&self) -> Files {
        (inode(&self.dir.db()), inode(&self.dir.vectors_db()))
    }

    fn open(&self, files: Files) -> Result<Open, StoreError> {
        let store = Store::open_read_only(&self.dir.db())?;
        let encoder = embed::Model::built_in();
        let engine = if self.vectors {
            Engine::open(store, &self.dir.vectors_db(), encoder).staying()
        } else {
            Engine::of_words(store, encoder)
        };
        Ok(Open {
            engine,
            files,
            used: Instant::now(),
        })
    }
}

fn inode(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|meta| meta.ino())
}

#[cfg(test)]
#[path = "warm_tests.rs"]
mod tests;
