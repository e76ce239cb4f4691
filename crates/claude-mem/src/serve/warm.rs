//! The store and its vectors, opened for looking and kept so: whoever asks a second time waits
//! for neither.
//!
//! Invariant: an engine answers one question at a time, on a connection of its own that cannot
//! write; who finds all of them busy opens another, so there are as many as ask at once, which
//! the askers bound. What was replaced on disk (a recovered store, rebuilt vectors) is opened
//! anew before the next answer.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use crate::clock;
use crate::limits::{WARM_ENGINES_MAX, WARM_SECONDS};
use crate::log::{Level, Log};
use crate::paths::DataDir;
use crate::search::{Engine, Shelves};
use crate::store::{Store, StoreError};

/// Engines that open themselves when they are asked and close when nobody asks any more.
#[derive(Debug)]
pub struct Warm {
    dir: DataDir,
    vectors: bool,
    idle: Mutex<Idle>,
}

/// What nobody is asking just now.
#[derive(Debug, Default)]
struct Idle {
    engines: Vec<Open>,
    /// In memory once for all of them.
    shelves: Arc<RwLock<Shelves>>,
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
            idle: Mutex::default(),
        }
    }

    /// Asks something of an engine.
    pub fn with<T>(
        &self,
        ask: impl FnOnce(&mut Engine) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let files = self.files();
        let (kept, shelves) = {
            let mut idle = self.idle();
            idle.engines.retain(|open| open.files == files);
            (idle.engines.pop(), Arc::clone(&idle.shelves))
        };
        let mut open = match kept {
            Some(open) => open,
            None => self.open(files, shelves)?,
        };
        let answer = ask(&mut open.engine);
        open.used = Instant::now();
        let mut idle = self.idle();
        if idle.engines.len() < WARM_ENGINES_MAX {
            idle.engines.push(open);
        }
        answer
    }

    /// Gives memory and files back if nobody has asked for a while.
    pub fn rest(&self, now: Instant) {
        let mut idle = self.idle();
        let long = Duration::from_secs(WARM_SECONDS);
        let is_fresh = |open: &Open| now.saturating_duration_since(open.used) < long;
        idle.engines.retain(is_fresh);
        if idle.engines.is_empty() {
            *idle = Idle::default();
        }
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn files(&self) -> Files {
        (inode(&self.dir.db()), inode(&self.dir.vectors_db()))
    }

    fn open(&self, files: Files, shelves: Arc<RwLock<Shelves>>) -> Result<Open, StoreError> {
        let store = Store::open_read_only(&self.dir.db())?;
        let encoder = embed::Model::built_in();
        let engine = if self.vectors {
            Engine::open(store, &self.dir.vectors_db(), encoder).sharing(shelves)
        } else {
            Engine::of_words(store, encoder)
        };
        if let Some(why) = engine.without_vectors() {
            let now = clock::now().millis();
            let what = "searched by words alone";
            Log::of_worker(&self.dir).line(now, Level::Warn, what, &[("why", &why)]);
        }
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
