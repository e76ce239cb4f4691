//! The state that the threads and tasks of a running worker share.
//!
//! [`WorkerContext`] owns the store, the scheduler, the engine pool and the log, and is passed
//! around in an [`Arc`]. `WorkerObserver` connects the pipeline to the rest: it resets the idle timer,
//! wakes the indexer and publishes stored rows.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

use crate::access_tokens::AccessTokens;
use crate::embedding_backfill::catch_up;
use crate::engine_pool::EnginePool;
use crate::idle::IdleTracker;
use crate::index_signal::IndexSignal;
use crate::team_signal::TeamSignal;
use crate::worker_settings::WorkerSettings;
use claude_mem_capture::ipc::pidfile::WorkerFile;
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::log::{LogLevel, LogWriter};
use claude_mem_core::sync::lock;
use claude_mem_ingest::compressor::{Compressor, CompressorReport};
use claude_mem_ingest::job::{EpisodeJob, StoredRows};
use claude_mem_ingest::pipeline::EpisodePipeline;
use claude_mem_ingest::pipeline_observer::PipelineObserver;
use claude_mem_ingest::scheduler::Scheduler;
use claude_mem_ingest::shared_store::SharedStore;
use claude_mem_ingest::transcript_backfill::TranscriptBackfill;
use claude_mem_store::StoreError;

/// Shared state of a running worker.
#[derive(Debug)]
pub(crate) struct WorkerContext {
    pub store: Arc<SharedStore>,
    pub scheduler: Scheduler,
    pub idle: Arc<IdleTracker>,
    /// Wakes the indexer when stored rows need vectors.
    pub index_signal: Arc<IndexSignal>,
    /// Wakes the team thread when rows were stored.
    pub team_signal: Arc<TeamSignal>,
    /// Open search engines, for HTTP requests and recall.
    pub engines: EnginePool,
    pub settings: WorkerSettings,
    /// Broadcasts the rows of each stored episode to open viewers.
    pub changes: broadcast::Sender<StoredRows>,
    pub file: Mutex<WorkerFile>,
    /// Tokens that the HTTP API accepts.
    pub keys: AccessTokens,
    pub log: LogWriter,
    /// Notified by every socket request, so that the shutdown conditions are checked at once.
    pub shutdown_check: tokio::sync::Notify,
    /// Recall replies that hooks have acknowledged.
    pub recalls: AtomicU64,
    compressor: Arc<dyn Compressor>,
    backfill: Arc<TranscriptBackfill>,
}

/// The reply to `status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerStatus {
    pub pid: u32,
    pub version: String,
    pub since: Millis,
    /// Port of the viewer and the API, if they are served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// A setting without effect, if there is one. Trouble with the model is in the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// The compressor in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<CompressorReport>,
    /// Recall replies that hooks have acknowledged since the worker started.
    #[serde(default)]
    pub recalls: u64,
}

/// Capacity of the change broadcast. A viewer that lags further must query the store itself.
const CHANGES_MAX: usize = 256;

impl WorkerContext {
    /// Starts the scheduler threads and assembles the shared state.
    pub(crate) fn start(
        store: Arc<SharedStore>,
        compressor: Arc<dyn Compressor>,
        settings: impl Into<WorkerSettings>,
        file: WorkerFile,
        home: String,
        log: LogWriter,
    ) -> std::io::Result<Arc<Self>> {
        let settings = settings.into();
        let idle = Arc::new(IdleTracker::new(Instant::now()));
        let (changes, _) = broadcast::channel(CHANGES_MAX);
        let index_signal = Arc::new(IndexSignal::default());
        let team_signal = Arc::new(TeamSignal::default());
        let backfill = Arc::new(TranscriptBackfill::new(Arc::clone(&store), home));
        let observer = Arc::new(WorkerObserver {
            idle: Arc::clone(&idle),
            index_signal: Arc::clone(&index_signal),
            team_signal: Arc::clone(&team_signal),
            changes: changes.clone(),
            log: log.clone(),
        });
        let pipeline = EpisodePipeline {
            store: Arc::clone(&store),
            backfill: Some(Arc::clone(&backfill)),
            compressor: Arc::clone(&compressor),
            observer,
        };
        let scheduler = Scheduler::start(pipeline, settings.at_start.parallel_sessions as usize)?;
        let engines = EnginePool::new(store.dir().clone(), settings.at_start.vectors);
        Ok(Arc::new(Self {
            keys: AccessTokens::new(store.dir().token(), store.dir().page_tokens()),
            store,
            engines,
            scheduler,
            idle,
            index_signal,
            team_signal,
            settings,
            changes,
            file: Mutex::new(file),
            log,
            shutdown_check: tokio::sync::Notify::new(),
            recalls: AtomicU64::new(0),
            compressor,
            backfill,
        }))
    }

    /// Processes all queued and spooled events and indexes the result. `is_over` is polled; once
    /// it returns true, the wait ends and the result is `false`.
    pub(crate) fn drain_all(&self, is_over: impl Fn() -> bool) -> Result<bool, StoreError> {
        if !self.scheduler.flush(&is_over)? {
            return Ok(false);
        }
        Ok(!self.settings.at_start.vectors || catch_up(&self.store, &self.index_signal, &is_over)?)
    }

    /// Backfills sessions without activity since `since` from their transcripts.
    pub(crate) fn backfill_idle_sessions(&self, since: Millis) {
        match self.backfill.backfill_idle_sessions(since) {
            Ok(silent) => {
                for error in &silent.errors {
                    self.warn("failed to read transcript", error);
                }
                if silent.new_events > 0 {
                    self.scheduler.notify();
                }
            }
            Err(error) => self.warn("failed to backfill idle sessions", &error),
        }
    }

    /// The reply to a `status` request.
    pub(crate) fn status(&self) -> WorkerStatus {
        let file = lock(&self.file);
        WorkerStatus {
            pid: file.pid,
            version: file.version.clone(),
            since: file.since,
            port: file.port,
            trouble: self.compressor.status_warning(clock::now().millis()),
            uses: Some(self.compressor.report()),
            recalls: self.recalls.load(Ordering::Relaxed),
        }
    }

    /// A single-use link to the viewer. `None` if the viewer has no port.
    pub(crate) fn viewer_link(&self) -> std::io::Result<Option<String>> {
        let file = lock(&self.file);
        let Some(port) = file.port else {
            return Ok(None);
        };
        let secret = self.keys.create_link(Instant::now())?;
        Ok(Some(format!("http://127.0.0.1:{port}/#k={secret}")))
    }

    /// Logs a warning with its error.
    pub(crate) fn warn(&self, what: &'static str, error: &dyn std::fmt::Display) {
        self.log_line(LogLevel::Warn, what, &[("error", error)]);
    }

    /// Writes one log line.
    pub(crate) fn log_line(
        &self,
        level: LogLevel,
        what: &'static str,
        values: &[(&'static str, &dyn std::fmt::Display)],
    ) {
        self.log.line(clock::now().millis(), level, what, values);
    }
}

/// Forwards the pipeline's callbacks to the rest of the worker.
#[derive(Debug)]
struct WorkerObserver {
    idle: Arc<IdleTracker>,
    index_signal: Arc<IndexSignal>,
    team_signal: Arc<TeamSignal>,
    changes: broadcast::Sender<StoredRows>,
    log: LogWriter,
}

impl PipelineObserver for WorkerObserver {
    fn episode_stored(&self, work: &EpisodeJob, left: &StoredRows) {
        self.idle.touch(Instant::now());
        self.index_signal.notify();
        self.team_signal.notify();
        // Sending fails when no viewer is subscribed.
        let _ = self.changes.send(left.clone());
        self.log.line(
            clock::now().millis(),
            LogLevel::Info,
            "episode stored",
            &[
                ("session", &work.session),
                ("events", &left.events),
                ("observations", &left.observations.len()),
            ],
        );
    }

    fn warn(&self, what: &'static str, error: &dyn std::fmt::Display) {
        let now = clock::now().millis();
        self.log.line(now, LogLevel::Warn, what, &[("error", error)]);
    }

    fn events_backfilled(&self, events: usize) {
        let (now, what) = (clock::now().millis(), "transcript backfill queued events");
        self.log.line(now, LogLevel::Info, what, &[("events", &events)]);
    }
}
