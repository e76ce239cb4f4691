//! The life of a worker, from taking the lock to the graceful shutdown.
//!
//! Invariant: the process that holds the [`WorkerLock`] is the worker; pid file and socket are only
//! hints for other processes. The shutdown has a fixed order: stop accepting requests, stop HTTP,
//! stop the threads, release the leases, close the database, delete the pid file. Each step has a
//! timeout, and a shutdown that exceeds [`END_SECONDS`] ends the process by force. None of this is
//! needed for safety: a killed worker loses nothing.

use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::executable::{ExecutableChange, ExecutableWatch};
use crate::http;
use crate::indexer_thread::IndexerThread;
use crate::maintenance::MaintenanceThread;
use crate::shutdown_reason::ShutdownReason;
use crate::shutdown_timer::ShutdownTimer;
use crate::socket;
use crate::team_thread::TeamThread;
use crate::worker::WorkerContext;
use crate::worker_settings::WorkerSettings;
use claude_mem_capture::ipc::lock;
use claude_mem_capture::ipc::lock::WorkerLock;
use claude_mem_capture::ipc::pidfile::WorkerFile;
use claude_mem_core::clock;
use claude_mem_core::config::Settings;
use claude_mem_core::limits::{END_SECONDS, END_STEP_SECONDS, POLL_SECONDS};
use claude_mem_core::live_settings::LiveSettings;
use claude_mem_core::log::{LogLevel, LogWriter};
use claude_mem_core::paths::DataDir;
use claude_mem_ingest::compressor::Compressor;
use claude_mem_ingest::shared_store::SharedStore;
use claude_mem_store::StoreError;

/// Options of a worker.
#[derive(Debug)]
pub struct WorkerOptions {
    pub dir: DataDir,
    /// The settings at the start.
    pub settings: Settings,
    /// Follows changes of the settings.
    pub live: Arc<LiveSettings>,
    pub socket: PathBuf,
    /// The user's home directory, which replaces `~` in patterns.
    pub home: String,
    /// The worker ends when this file is replaced or removed, so that the new version takes over.
    pub executable: PathBuf,
    /// End when the queue is empty.
    pub until_drained: bool,
    pub log: LogWriter,
    /// Reads an environment variable, each time settings are loaded.
    pub env: fn(&str) -> Option<String>,
}

/// Why a worker could not start, or ended with an error.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// Another worker holds the lock.
    #[error("a worker is already running")]
    AlreadyRunning,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}: {1}")]
    Io(&'static str, io::Error),
}

/// Runs a worker until it shuts down. `compressor` is called once the store is open; `ready` once the
/// worker accepts requests.
pub fn run(
    plan: WorkerOptions,
    compressor: impl FnOnce(&Arc<SharedStore>, &WorkerOptions) -> Arc<dyn Compressor>,
    ready: impl FnOnce(&WorkerFile),
) -> Result<ShutdownReason, WorkerError> {
    let at = |what| move |error| WorkerError::Io(what, error);
    plan.dir.create().map_err(at("cannot create the data directory"))?;
    let lock = lock::acquire(&plan.dir.worker_lock()).map_err(at("cannot take the worker lock"))?;
    let Some(lock) = lock else {
        return Err(WorkerError::AlreadyRunning);
    };
    let was_killed = plan.dir.worker_pid().exists();
    let mut file = WorkerFile::for_current_process(plan.socket.clone(), clock::now().millis());
    let page = bind_viewer(&plan);
    file.port = page.as_ref().map(|(_, port)| *port);
    file.write(&plan.dir.worker_pid()).map_err(at("cannot write the pid file"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(at("cannot start the async runtime"))?;
    let store = SharedStore::open(&plan.dir, file.since)?;
    store.with(|store| {
        store.write(|tx| {
            tx.reclaim_leases()?;
            tx.charge_abandoned_calls()
        })
    })?;
    let store = Arc::new(store);
    let compressor = compressor(&store, &plan);
    let running = RunningWorker { options: plan, store, lock, was_killed };
    running.serve(&runtime, compressor, &file, page, ready)
}

/// Binds a port for the viewer. With `until_drained` there is no viewer, and without a free port the
/// worker runs without one.
fn bind_viewer(plan: &WorkerOptions) -> Option<(TcpListener, u16)> {
    if plan.until_drained {
        return None;
    }
    match http::bind(plan.settings.port, &plan.dir, Path::new(&plan.home)) {
        Ok(bound) => Some(bound),
        Err(error) => {
            let (now, what) = (clock::now().millis(), "failed to bind a port for the viewer");
            plan.log.line(now, LogLevel::Warn, what, &[("error", &error)]);
            None
        }
    }
}

/// A worker that holds its lock and has opened its store.
struct RunningWorker {
    options: WorkerOptions,
    store: Arc<SharedStore>,
    lock: WorkerLock,
    /// The previous worker was killed: it left its pid file.
    was_killed: bool,
}

impl RunningWorker {
    /// Starts all threads and servers, waits for a reason to shut down, then shuts down.
    fn serve(
        self,
        runtime: &tokio::runtime::Runtime,
        compressor: Arc<dyn Compressor>,
        file: &WorkerFile,
        page: Option<(TcpListener, u16)>,
        ready: impl FnOnce(&WorkerFile),
    ) -> Result<ShutdownReason, WorkerError> {
        let at = |what| move |error| WorkerError::Io(what, error);
        let plan = &self.options;
        let worker = WorkerContext::start(
            Arc::clone(&self.store),
            compressor,
            WorkerSettings::live(plan.settings.clone(), Arc::clone(&plan.live)),
            file.clone(),
            plan.home.clone(),
            plan.log.clone(),
        )
        .map_err(at("cannot start the scheduler"))?;
        let upkeep = MaintenanceThread::start(Arc::clone(&worker), self.was_killed)
            .map_err(at("cannot start maintenance"))?;
        let indexer = IndexerThread::start(Arc::clone(&worker)).map_err(at("cannot start the indexer"))?;
        // A worker that only drains the queue sends and fetches nothing.
        let team = if plan.until_drained {
            None
        } else {
            let started = TeamThread::start(Arc::clone(&worker), plan.home.clone());
            Some(started.map_err(at("cannot start the team thread"))?)
        };
        worker.log_line(LogLevel::Info, "worker started", &[("pid", &file.pid)]);
        let ended = runtime.block_on(async {
            let listener = socket::bind(&plan.socket).map_err(at("cannot bind the worker socket"))?;
            let (end, ends) = mpsc::channel(1);
            let listening = tokio::spawn(socket::listen(listener, Arc::clone(&worker), end));
            let started = page.map(|(listener, _)| {
                http::HttpServer::start(listener, Arc::clone(&worker), plan.env)
                    .map_err(at("cannot start the HTTP server"))
            });
            let page = started.transpose()?;
            ready(file);
            let ended = wait_for_shutdown(&worker, plan, &self.lock, ends).await;
            listening.abort();
            if let Some(page) = page {
                page.stop(Duration::from_secs(END_STEP_SECONDS)).await;
            }
            ended
        });
        let why = match &ended {
            Ok(ended) => ended.as_str().to_owned(),
            Err(error) => error.to_string(),
        };
        self.shut_down(&worker, upkeep, indexer, team, &why);
        ended
    }

    /// The graceful shutdown. Errors are only logged: nothing can be lost at this point.
    fn shut_down(
        self,
        worker: &WorkerContext,
        upkeep: MaintenanceThread,
        indexer: IndexerThread,
        team: Option<TeamThread>,
        why: &str,
    ) {
        let _forced = ShutdownTimer::after(Duration::from_secs(END_SECONDS));
        let step = Duration::from_secs(END_STEP_SECONDS);
        let plan = &self.options;
        // After the directory was replaced, its files may belong to another worker.
        let is_ours = self.lock.is_in_place();
        if is_ours && let Err(error) = std::fs::remove_file(&plan.socket) {
            worker.warn("failed to remove the worker socket", &error);
        }
        if let Some(team) = team {
            team.stop(step);
        }
        worker.scheduler.stop(step);
        upkeep.stop(step);
        indexer.stop(step);
        let released = self.store.with(|store| store.write(|tx| tx.release_all().map(drop)));
        if let Err(error) = released {
            worker.warn("failed to release leases; they will expire", &error);
        }
        if let Err(error) = self.store.close() {
            worker.warn("failed to close the database", &error);
        }
        if is_ours {
            worker.log_line(LogLevel::Info, "worker ended", &[("why", &why)]);
            if let Err(error) = std::fs::remove_file(plan.dir.worker_pid()) {
                worker.warn("failed to remove the pid file", &error);
            }
        }
        drop(self.lock);
    }
}

/// Waits for the first reason to shut down.
async fn wait_for_shutdown(
    worker: &Arc<WorkerContext>,
    plan: &WorkerOptions,
    lock: &WorkerLock,
    mut ends: mpsc::Receiver<ShutdownReason>,
) -> Result<ShutdownReason, WorkerError> {
    let on = |kind| signal(kind).map_err(|e| WorkerError::Io("cannot install a signal handler", e));
    let mut terminate = on(SignalKind::terminate())?;
    let mut interrupt = on(SignalKind::interrupt())?;
    let mut hang_up = on(SignalKind::hangup())?;
    let drained = wait_for_drain(worker, plan.until_drained);
    tokio::pin!(drained);
    let mut executable = ExecutableWatch::watch(plan.executable.clone());
    let mut tick = tokio::time::interval(Duration::from_secs(POLL_SECONDS));
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            ended = &mut drained => return ended,
            ended = ends.recv() => return Ok(ended.unwrap_or(ShutdownReason::Requested)),
            _ = terminate.recv() => return Ok(ShutdownReason::Requested),
            _ = interrupt.recv() => return Ok(ShutdownReason::Requested),
            _ = hang_up.recv() => return Ok(ShutdownReason::Requested),
            _ = tick.tick() => {}
            () = worker.shutdown_check.notified() => {}
        }
        if !lock.is_in_place() {
            return Ok(ShutdownReason::DataDirRemoved);
        }
        if plan.until_drained {
            continue;
        }
        match executable.poll() {
            Some(ExecutableChange::Replaced) => return Ok(ShutdownReason::ExecutableReplaced),
            Some(ExecutableChange::Removed) => return Ok(ShutdownReason::ExecutableRemoved),
            None => {}
        }
        let idle_minutes = worker.settings.current().worker_idle_minutes;
        if worker.idle.idle_for(Instant::now()) >= Duration::from_secs(u64::from(idle_minutes) * 60) {
            return Ok(ShutdownReason::Idle);
        }
    }
}

/// With `until_drained`, drains the queue; otherwise never returns.
async fn wait_for_drain(worker: &Arc<WorkerContext>, asked: bool) -> Result<ShutdownReason, WorkerError> {
    if !asked {
        return std::future::pending().await;
    }
    let draining = Arc::clone(worker);
    let drain = tokio::task::spawn_blocking(move || crate::maintenance::drain_and_maintain(&draining));
    match drain.await {
        Ok(Ok(true)) => Ok(ShutdownReason::Drained),
        Ok(Ok(false)) => Ok(ShutdownReason::Requested),
        Ok(Err(error)) => Err(error.into()),
        Err(error) => Err(WorkerError::Io("draining the queue failed", io::Error::other(error))),
    }
}
