//! What every route stands on.

use std::sync::Arc;
use std::time::Instant;

use jiff::tz::TimeZone;
use tokio::sync::{Semaphore, watch};

use super::figures::Kept;
use super::problem::Problem;
use super::readers::Readers;
use crate::clock::{self, Millis};
use crate::config::{self, Loaded};
use crate::limits::{
    HTTP_LONG_BODIES_MAX, HTTP_REQUESTS_AT_ONCE_MAX, HTTP_SEARCHES_AT_ONCE_MAX, HTTP_STREAMS_MAX,
};
use crate::paths::DataDir;
use crate::serve::worker::Worker;
use crate::serve::{compressor, upkeep};
use crate::store::{Reads, Store, StoreError};
use crate::vocabulary::Vocabulary;

pub(super) struct Api {
    pub(super) worker: Arc<Worker>,
    pub(super) port: u16,
    pub(super) started: Instant,
    pub(super) zone: TimeZone,
    pub(super) env: fn(&str) -> Option<String>,
    pub(super) readers: Readers,
    pub(super) kept: Kept,
    /// Counts up when something was stored or changed through this server.
    pub(super) stirred: watch::Sender<u64>,
    /// Places for requests that are worked on.
    pub(super) places: Arc<Semaphore>,
    /// Which of them may be searches; taken before a place is.
    pub(super) searches: Arc<Semaphore>,
    /// Places for bodies that are longer than ordinary ones.
    pub(super) long_bodies: Arc<Semaphore>,
    /// Places for pages that look on.
    pub(super) streams: Arc<Semaphore>,
    /// True once the server ends.
    pub(super) ending: watch::Receiver<bool>,
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api")
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

impl Api {
    pub(super) fn new(
        worker: Arc<Worker>,
        port: u16,
        env: fn(&str) -> Option<String>,
        ending: watch::Receiver<bool>,
    ) -> Self {
        Self {
            readers: Readers::of(worker.store.dir()),
            worker,
            port,
            started: Instant::now(),
            zone: clock::zone(),
            env,
            kept: Kept::default(),
            stirred: watch::channel(0).0,
            places: Arc::new(Semaphore::new(HTTP_REQUESTS_AT_ONCE_MAX)),
            searches: Arc::new(Semaphore::new(HTTP_SEARCHES_AT_ONCE_MAX)),
            long_bodies: Arc::new(Semaphore::new(HTTP_LONG_BODIES_MAX)),
            streams: Arc::new(Semaphore::new(HTTP_STREAMS_MAX)),
            ending,
        }
    }

    pub(super) fn dir(&self) -> &DataDir {
        self.worker.store.dir()
    }

    #[allow(
        clippy::unused_self,
        reason = "the clock is part of what a route stands on"
    )]
    pub(super) fn now(&self) -> Millis {
        clock::now().millis()
    }

    /// As they are in the file and the environment now; the worker's own may be older.
    pub(super) fn settings(&self) -> Loaded {
        config::load(self.dir().root(), self.env)
    }

    /// The words that types are called by; the standard ones where a file of them cannot be read.
    pub(super) fn vocabulary(&self) -> Vocabulary {
        let settings = self.settings().settings;
        compressor::vocabulary(self.dir().root(), &settings).unwrap_or_default()
    }

    /// Looks at the store as it is at one moment.
    pub(super) fn view<T>(
        &self,
        look: impl FnOnce(&Reads<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        // What a look finds wrong is an answer, not a failure of the store; but damage is both.
        let mut damaged = false;
        let seen = self.readers.view(|reads| {
            let seen = look(reads);
            damaged = seen.as_ref().is_err_and(|problem| problem.damaged);
            Ok(seen)
        });
        if damaged || matches!(seen, Err(StoreError::Damaged)) {
            // `Damaged` again means that it has been recovered since.
            if let Err(error) = upkeep::check_store(&self.worker) {
                self.worker.trouble("the store was found damaged", &error);
            }
        }
        seen?
    }

    /// Changes the store, and lets those who look on know.
    pub(super) fn change<T>(
        &self,
        act: impl FnOnce(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, Problem> {
        let done = self.worker.store.with(act)?;
        self.worker.index.ring();
        self.stir();
        Ok(done)
    }

    pub(super) fn stir(&self) {
        self.stirred.send_modify(|count| *count += 1);
    }
}
