//! From the lock to the last step of an orderly end.
//!
//! Invariant: whoever holds the lock is the worker; everything else (pid file, socket) is only
//! believed by those who come after it. The end is in order: no new requests, no HTTP, no
//! children, sessions given back, the database closed, the pid file gone; each step has its time,
//! and a process that takes longer than all of it together is ended by force. None of it is
//! needed for safety: a killed worker has lost nothing.

use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::drain::Compressor;
use super::executable::Executable;
use super::http;
use super::index::Indexer;
use super::lock::{self, Lock};
use super::pidfile::WorkerFile;
use super::shared::SharedStore;
use super::socket;
use super::upkeep::Upkeep;
use super::worker::Worker;
use crate::clock;
use crate::config::Settings;
use crate::limits::{END_SECONDS, END_STEP_SECONDS, POLL_SECONDS};
use crate::log::{Level, Log};
use crate::paths::DataDir;
use crate::store::StoreError;

/// How a worker is to run.
#[derive(Debug)]
pub struct Plan {
    pub dir: DataDir,
    pub settings: Settings,
    pub socket: PathBuf,
    /// The user's home directory, for the `~` of patterns.
    pub home: String,
    /// The file to hand over to when it is replaced.
    pub executable: PathBuf,
    /// End when the queue is empty.
    pub until_drained: bool,
    pub log: Log,
    /// Asked for settings, each time they are looked at.
    pub env: fn(&str) -> Option<String>,
}

/// The settings to work by. What a file that cannot be read says of how long things are kept is not
/// known: nothing is deleted by the defaults.
pub fn careful(mut settings: Settings, file_unreadable: bool) -> Settings {
    if file_unreadable {
        settings.backups_keep = settings.backups_keep.max(BACKUPS_KEPT_MAX);
        settings.backups_bytes_max = u64::MAX;
        settings.log_days = settings.log_days.max(LOG_DAYS_KEPT_MAX);
        settings.log_bytes_max = u64::MAX;
        settings.prompts_days_max = 0;
    }
    settings
}

/// As much as anybody can have set.
const BACKUPS_KEPT_MAX: u32 = 1_000;
const LOG_DAYS_KEPT_MAX: u32 = 3_650;

/// Why a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By a request or a signal.
    Asked,
    /// The queue is empty, as was asked for.
    Drained,
    /// Nobody has needed it for a while.
    Idle,
    /// A newer executable has been put in place.
    Replaced,
    /// Its data directory was removed: there is nothing to work for.
    Bereft,
}

impl Ended {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Drained => "drained",
            Self::Idle => "idle",
            Self::Replaced => "replaced",
            Self::Bereft => "its data directory is gone",
        }
    }
}

/// Why there is no worker.
#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    /// There is one already.
    #[error("a worker is running already")]
    Running,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}: {1}")]
    Io(&'static str, io::Error),
}

/// Runs a worker to its end. `compressor` says who makes the memories, once there is a store to
/// make them for; `ready` is called once the worker can be reached.
pub fn run(
    plan: Plan,
    compressor: impl FnOnce(&Arc<SharedStore>, &Plan) -> Arc<dyn Compressor>,
    ready: impl FnOnce(&WorkerFile),
) -> Result<Ended, NotRun> {
    let at = |what| move |error| NotRun::Io(what, error);
    plan.dir.create().map_err(at("the data directory"))?;
    let lock = lock::acquire(&plan.dir.worker_lock()).map_err(at("the lock"))?;
    let Some(lock) = lock else {
        return Err(NotRun::Running);
    };
    let was_killed = plan.dir.worker_pid().exists();
    let mut file = WorkerFile::of_self(plan.socket.clone(), clock::now().millis());
    let page = serve_page(&plan);
    file.port = page.as_ref().map(|(_, port)| *port);
    file.write(&plan.dir.worker_pid())
        .map_err(at("the pid file"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(at("the runtime"))?;
    let store = SharedStore::open(&plan.dir, file.since)?;
    store.with(|store| {
        store.write(|tx| {
            tx.reclaim_leases()?;
            tx.charge_abandoned_calls()
        })
    })?;
    let store = Arc::new(store);
    let compressor = compressor(&store, &plan);
    let running = Running {
        plan,
        store,
        lock,
        was_killed,
    };
    running.serve(&runtime, compressor, &file, page, ready)
}

/// A port for the viewer. One that is only to drain shows nothing; one that gets no port works on
/// without.
fn serve_page(plan: &Plan) -> Option<(TcpListener, u16)> {
    if plan.until_drained {
        return None;
    }
    match http::bind(plan.settings.port) {
        Ok(bound) => Some(bound),
        Err(error) => {
            let (now, what) = (clock::now().millis(), "the viewer is not served");
            plan.log.line(now, Level::Warn, what, &[("error", &error)]);
            None
        }
    }
}

struct Running {
    plan: Plan,
    store: Arc<SharedStore>,
    lock: Lock,
    /// The one before left its pid file behind.
    was_killed: bool,
}

impl Running {
    fn serve(
        self,
        runtime: &tokio::runtime::Runtime,
        compressor: Arc<dyn Compressor>,
        file: &WorkerFile,
        page: Option<(TcpListener, u16)>,
        ready: impl FnOnce(&WorkerFile),
    ) -> Result<Ended, NotRun> {
        let at = |what| move |error| NotRun::Io(what, error);
        let plan = &self.plan;
        let worker = Worker::start(
            Arc::clone(&self.store),
            compressor,
            plan.settings.clone(),
            file.clone(),
            plan.home.clone(),
            plan.log.clone(),
        )
        .map_err(at("the drain"))?;
        let upkeep =
            Upkeep::start(Arc::clone(&worker), self.was_killed).map_err(at("the upkeep"))?;
        let indexer = Indexer::start(Arc::clone(&worker)).map_err(at("the index"))?;
        worker.say(Level::Info, "worker started", &[("pid", &file.pid)]);
        let ended = runtime.block_on(async {
            let listener = socket::bind(&plan.socket).map_err(at("the socket"))?;
            let (end, ends) = mpsc::channel(1);
            let listening = tokio::spawn(socket::listen(listener, Arc::clone(&worker), end));
            let page = page.map(|(listener, _)| {
                http::Server::start(listener, Arc::clone(&worker), plan.env)
                    .map_err(at("the HTTP server"))
            });
            let page = page.transpose()?;
            ready(file);
            let ended = until_end(&worker, plan, &self.lock, ends).await;
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
        self.end(&worker, upkeep, indexer, &why);
        ended
    }

    /// The orderly end. What fails here is only told: there is nothing left to save.
    fn end(self, worker: &Worker, upkeep: Upkeep, indexer: Indexer, why: &str) {
        let _forced = Forced::after(Duration::from_secs(END_SECONDS));
        let step = Duration::from_secs(END_STEP_SECONDS);
        let plan = &self.plan;
        // In a directory that is not ours any more, others may have theirs.
        let is_ours = self.lock.is_in_place();
        if is_ours && let Err(error) = std::fs::remove_file(&plan.socket) {
            worker.trouble("the socket is left behind", &error);
        }
        worker.drain.stop(step);
        upkeep.stop(step);
        indexer.stop(step);
        let released = self
            .store
            .with(|store| store.write(|tx| tx.release_all().map(drop)));
        if let Err(error) = released {
            worker.trouble("events stay leased for a while", &error);
        }
        if let Err(error) = self.store.close() {
            worker.trouble("the database was not closed", &error);
        }
        if is_ours {
            worker.say(Level::Info, "worker ended", &[("why", &why)]);
            if let Err(error) = std::fs::remove_file(plan.dir.worker_pid()) {
                worker.trouble("the pid file is left behind", &error);
            }
        }
        drop(self.lock);
    }
}

/// Waits for whatever ends the worker first.
async fn until_end(
    worker: &Arc<Worker>,
    plan: &Plan,
    lock: &Lock,
    mut ends: mpsc::Receiver<Ended>,
) -> Result<Ended, NotRun> {
    let on = |kind| signal(kind).map_err(|e| NotRun::Io("a signal handler", e));
    let mut terminate = on(SignalKind::terminate())?;
    let mut interrupt = on(SignalKind::interrupt())?;
    let mut hang_up = on(SignalKind::hangup())?;
    let drained = drained(worker, plan.until_drained);
    tokio::pin!(drained);
    let mut executable = Executable::watch(plan.executable.clone());
    let idle_max = Duration::from_secs(u64::from(plan.settings.worker_idle_minutes) * 60);
    let mut tick = tokio::time::interval(Duration::from_secs(POLL_SECONDS));
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            ended = &mut drained => return ended,
            ended = ends.recv() => return Ok(ended.unwrap_or(Ended::Asked)),
            _ = terminate.recv() => return Ok(Ended::Asked),
            _ = interrupt.recv() => return Ok(Ended::Asked),
            _ = hang_up.recv() => return Ok(Ended::Asked),
            _ = tick.tick() => {}
            () = worker.nudge.notified() => {}
        }
        if !lock.is_in_place() {
            return Ok(Ended::Bereft);
        }
        if plan.until_drained {
            continue;
        }
        if executable.is_newer() {
            return Ok(Ended::Replaced);
        }
        if worker.presence.idle_for(Instant::now()) >= idle_max {
            return Ok(Ended::Idle);
        }
    }
}

/// Drains, if that is what the worker was started for; waits for ever otherwise.
async fn drained(worker: &Arc<Worker>, asked: bool) -> Result<Ended, NotRun> {
    if !asked {
        return std::future::pending().await;
    }
    let draining = Arc::clone(worker);
    let drain = tokio::task::spawn_blocking(move || super::upkeep::to_the_end(&draining));
    match drain.await {
        Ok(Ok(true)) => Ok(Ended::Drained),
        Ok(Ok(false)) => Ok(Ended::Asked),
        Ok(Err(error)) => Err(error.into()),
        Err(error) => Err(NotRun::Io("the drain", io::Error::other(error))),
    }
}

/// Ends the process if this is not dropped in time.
struct Forced {
    _in_time: Option<std::sync::mpsc::Sender<()>>,
}

impl Forced {
    fn after(time: Duration) -> Self {
        let (in_time, waits) = std::sync::mpsc::channel();
        let force = move || {
            if waits.recv_timeout(time) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                std::process::exit(1);
            }
        };
        let started = std::thread::Builder::new().name("end".into()).spawn(force);
        Self {
            _in_time: started.is_ok().then_some(in_time),
        }
    }
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;
