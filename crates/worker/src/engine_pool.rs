//! A pool of open search engines, so that repeated queries open neither the store nor the vectors.
//!
//! Invariant: each engine of the [`EnginePool`] answers one query at a time on its own read-only
//! connection. If all are busy another is opened, so their number is bounded by the concurrent
//! callers. When a file was replaced on disk (a recovered store, rebuilt vectors), engines are
//! reopened before the next query.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use claude_mem_core::clock;
use claude_mem_core::log::{LogLevel, LogWriter};
use claude_mem_core::paths::DataDir;
use claude_mem_core::sync::lock;
use claude_mem_search::{SearchEngine, SignatureCache};
use claude_mem_store::{Store, StoreError};

/// Maximum idle search engines that stay open. A request that finds none opens one of its own.
const WARM_ENGINES_MAX: usize = 3;

/// Seconds after which an idle search engine is closed.
pub(crate) const WARM_SECONDS: u64 = 30;

/// Opens engines on demand and closes them when idle.
#[derive(Debug)]
pub(crate) struct EnginePool {
    dir: DataDir,
    vectors: bool,
    idle: Mutex<IdleEngines>,
}

/// Engines that are not in use.
#[derive(Debug, Default)]
struct IdleEngines {
    engines: Vec<PooledEngine>,
    /// Vector signatures, shared by all engines.
    signatures: Arc<RwLock<SignatureCache>>,
}

/// An open engine and when it was last used.
#[derive(Debug)]
struct PooledEngine {
    engine: SearchEngine,
    inodes: OpenedInodes,
    used: Instant,
}

/// Inodes of the opened database and vector files, which change when a file is replaced.
type OpenedInodes = (Option<u64>, Option<u64>);

impl EnginePool {
    /// Without `vectors`, engines search by words only.
    pub(crate) fn new(dir: DataDir, vectors: bool) -> Self {
        Self { dir, vectors, idle: Mutex::default() }
    }

    /// Runs a query on an idle engine, or on a new one.
    pub(crate) fn with_engine<T>(
        &self,
        ask: impl FnOnce(&mut SearchEngine) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let files = self.current_inodes();
        let (kept, signatures) = {
            let mut idle = lock(&self.idle);
            idle.engines.retain(|open| open.inodes == files);
            (idle.engines.pop(), Arc::clone(&idle.signatures))
        };
        let mut open = match kept {
            Some(open) => open,
            None => self.open_engine(files, signatures)?,
        };
        let answer = ask(&mut open.engine);
        open.used = Instant::now();
        let mut idle = lock(&self.idle);
        if idle.engines.len() < WARM_ENGINES_MAX {
            idle.engines.push(open);
        }
        answer
    }

    /// Closes engines that have been idle for `WARM_SECONDS`, and frees the signatures with the last.
    pub(crate) fn close_idle(&self, now: Instant) {
        let mut idle = lock(&self.idle);
        let long = Duration::from_secs(WARM_SECONDS);
        let is_fresh = |open: &PooledEngine| now.saturating_duration_since(open.used) < long;
        idle.engines.retain(is_fresh);
        if idle.engines.is_empty() {
            *idle = IdleEngines::default();
        }
    }

    fn current_inodes(&self) -> OpenedInodes {
        (inode(&self.dir.db()), inode(&self.dir.vectors_db()))
    }

    fn open_engine(
        &self,
        files: OpenedInodes,
        signatures: Arc<RwLock<SignatureCache>>,
    ) -> Result<PooledEngine, StoreError> {
        let store = Store::open_read_only(&self.dir.db())?;
        let encoder = embed::EmbeddingModel::built_in();
        let engine = if self.vectors {
            SearchEngine::open(store, &self.dir.vectors_db(), encoder).with_shared_signatures(signatures)
        } else {
            SearchEngine::lexical_only(store, encoder)
        };
        if let Some(why) = engine.vectors_unavailable() {
            let now = clock::now().millis();
            let what = "vectors unavailable; searching by words only";
            LogWriter::for_worker(&self.dir).line(now, LogLevel::Warn, what, &[("why", &why)]);
        }
        Ok(PooledEngine { engine, inodes: files, used: Instant::now() })
    }
}

fn inode(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|meta| meta.ino())
}

#[cfg(test)]
#[path = "engine_pool_tests.rs"]
mod tests;
