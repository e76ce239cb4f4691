//! [`ApiState`], the state that all handlers share: the worker, read connections, semaphores.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use jiff::tz::TimeZone;
use serde_json::Value;
use tokio::sync::{Semaphore, watch};

use super::agent_stats_view::AgentStatsView;
use super::duplicate_titles::DuplicateCache;
use super::problem::Problem;
use super::reader_pool::ReaderPool;
use super::stats_cache::{STATS_DAYS, StatsCache, StatsSnapshot};
use super::timed_cache::TimedCache;
use crate::maintenance;
use crate::worker::WorkerContext;
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::config;
use claude_mem_core::config::LoadedSettings;
use claude_mem_core::ids::ProjectId;
use claude_mem_core::limits::{
    HTTP_LONG_BODIES_MAX, HTTP_REQUESTS_AT_ONCE_MAX, HTTP_SEARCHES_AT_ONCE_MAX, HTTP_STREAMS_MAX,
};
use claude_mem_core::paths::DataDir;
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_ingest::compressor_config;
use claude_mem_search::date_arg;
use claude_mem_setup::doctor::DoctorFinding;
use claude_mem_store::{ProjectCounts, Store, StoreError, StoreReader};

/// The shared state of all handlers.
pub(super) struct ApiState {
    pub(super) worker: Arc<WorkerContext>,
    pub(super) port: u16,
    pub(super) started: Instant,
    pub(super) zone: TimeZone,
    pub(super) env: fn(&str) -> Option<String>,
    pub(super) readers: ReaderPool,
    pub(super) stats_cache: StatsCache,
    pub(super) findings: TimedCache<Vec<DoctorFinding>>,
    pub(super) agent_stats: TimedCache<Vec<AgentStatsView>>,
    pub(super) duplicates: DuplicateCache,
    /// The settings with which this worker runs where a change needs a restart.
    pub(super) settings_at_start: LoadedSettings,
    /// Incremented when something was stored or changed through this server.
    pub(super) change_count: watch::Sender<u64>,
    /// Bounds the handlers that run at once.
    pub(super) request_slots: Arc<Semaphore>,
    /// Bounds the searches among them; acquired before `request_slots`.
    pub(super) search_slots: Arc<Semaphore>,
    /// Bounds the bodies above the usual size that are in memory at once.
    pub(super) long_body_slots: Arc<Semaphore>,
    /// Bounds the open event streams.
    pub(super) stream_slots: Arc<Semaphore>,
    /// True once the server shuts down.
    pub(super) shutdown: watch::Receiver<bool>,
    /// Describes all routes, as an OpenAPI document.
    pub(super) describe: fn() -> Value,
}

impl std::fmt::Debug for ApiState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiState").field("port", &self.port).finish_non_exhaustive()
    }
}

impl ApiState {
    pub(super) fn new(
        worker: Arc<WorkerContext>,
        port: u16,
        env: fn(&str) -> Option<String>,
        shutdown: watch::Receiver<bool>,
        describe: fn() -> Value,
    ) -> Self {
        Self {
            readers: ReaderPool::new(worker.store.dir()),
            port,
            started: Instant::now(),
            zone: clock::zone(),
            env,
            stats_cache: StatsCache::default(),
            findings: TimedCache::default(),
            agent_stats: TimedCache::default(),
            duplicates: DuplicateCache::default(),
            settings_at_start: config::load(worker.store.dir().root(), env),
            worker,
            change_count: watch::channel(0).0,
            request_slots: Arc::new(Semaphore::new(HTTP_REQUESTS_AT_ONCE_MAX)),
            search_slots: Arc::new(Semaphore::new(HTTP_SEARCHES_AT_ONCE_MAX)),
            long_body_slots: Arc::new(Semaphore::new(HTTP_LONG_BODIES_MAX)),
            stream_slots: Arc::new(Semaphore::new(HTTP_STREAMS_MAX)),
            shutdown,
            describe,
        }
    }

    pub(super) fn dir(&self) -> &DataDir {
        self.worker.store.dir()
    }

    #[allow(clippy::unused_self, reason = "the clock is part of the state that handlers use")]
    pub(super) fn now(&self) -> Millis {
        clock::now().millis()
    }

    /// The settings in the file and the environment now.
    pub(super) fn settings(&self) -> LoadedSettings {
        config::load(self.dir().root(), self.env)
    }

    /// The configured vocabulary, or the default one if its file cannot be read.
    pub(super) fn vocabulary(&self) -> Vocabulary {
        let settings = self.settings().settings;
        compressor_config::load_vocabulary(self.dir().root(), &settings).unwrap_or_default()
    }

    /// Runs a read on one consistent snapshot of the store.
    pub(super) fn view<T>(
        &self,
        look: impl FnOnce(&StoreReader<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        // An error of the closure is a response, not a store failure, unless it reports corruption.
        let mut damaged = false;
        let seen = self.readers.view(|reads| {
            let seen = look(reads);
            damaged = seen.as_ref().is_err_and(|problem| problem.store_corrupt);
            Ok(seen)
        });
        if damaged || matches!(seen, Err(StoreError::Corrupt)) {
            // Another `Damaged` means that the database has been recovered since.
            if let Err(error) = maintenance::check_store(&self.worker) {
                self.worker.warn("the database is damaged", &error);
            }
        }
        seen?
    }

    /// Runs a write, then wakes the indexer and the event streams.
    pub(super) fn change<T>(
        &self,
        act: impl FnOnce(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, Problem> {
        let done = self.worker.store.with(act)?;
        self.worker.index_signal.notify();
        self.notify_change();
        Ok(done)
    }

    /// A snapshot at most a moment old, and never older than a change made through this server.
    pub(super) fn stats_snapshot(&self) -> Result<Arc<StatsSnapshot>, Problem> {
        self.stats_cache.get_or_load(&self.change_count, || {
            let days = date_arg::last_days(STATS_DAYS, self.now(), &self.zone);
            self.view(|reads| StatsSnapshot::load(reads, days))
        })
    }

    /// The counts per project. Every page needs these and no other statistics when it opens, so
    /// only these are computed if there is no fresh snapshot.
    pub(super) fn project_counts(&self) -> Result<BTreeMap<ProjectId, ProjectCounts>, Problem> {
        match self.stats_cache.get(&self.change_count) {
            Some(snapshot) => Ok(snapshot.by_project.clone()),
            None => self.view(|reads| Ok(reads.counts_by_project()?)),
        }
    }

    /// Wakes the event streams and invalidates cached statistics.
    pub(super) fn notify_change(&self) {
        self.change_count.send_modify(|count| *count += 1);
    }
}
