//! `claude-mem worker`: starts, stops, runs and inspects the worker.
//!
//! The worker lock decides whether a worker runs; the socket and the pid file say which one. Other
//! commands use [`ensure_running`], [`stop_worker`] and [`probe`].

mod logs;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::app::App;
use crate::cli::format;
use crate::cli::output::{Screen, print_note};
use claude_mem_capture::ipc::pidfile::WorkerFile;
use claude_mem_capture::ipc::spawn;
use claude_mem_capture::ipc::spawn::StartOutcome;
use claude_mem_capture::ipc::{client, lock};
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::limits::{END_SECONDS, MIGRATED_SECONDS, READY_SECONDS};
use claude_mem_core::live_settings::LiveSettings;
use claude_mem_core::log::{LogAuthor, LogLevel, LogWriter};
use claude_mem_core::paths;
use claude_mem_core::paths::DataDir;
use claude_mem_ingest::compressor::{Compressor, CompressorReport};
use claude_mem_ingest::compressor_config::{ClaudeInstall, ConfigSource, ProcessEnv};
use claude_mem_ingest::live_compressor::LiveCompressor;
use claude_mem_ingest::shared_store::SharedStore;
use claude_mem_setup::install::manifest::InstallManifest;
use claude_mem_store::{Store, StoreError};
use claude_mem_worker::{ShutdownReason, WorkerError, WorkerOptions, WorkerStatus};

/// Start, stop or inspect the worker, which creates the memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem worker start
  claude-mem worker status
  claude-mem worker logs -f              follow the log
  claude-mem worker run --until-drained  process the queue, then exit (for cron)

Hooks start the worker when there is work, unless `claude-mem config set worker manual` is set. It
exits when it has been idle for a while.")]
pub(super) struct Args {
    #[command(subcommand)]
    action: WorkerAction,
}

#[derive(Debug, clap::Subcommand)]
enum WorkerAction {
    /// Start the worker in the background and wait until it is ready
    Start,
    /// Stop the worker gracefully; unfinished work stays queued
    Stop,
    /// Restart the worker
    Restart,
    /// Show whether the worker is running
    Status,
    /// Run the worker in the foreground
    Run {
        /// Exit when the queue is empty; if a worker is already running, wait for it instead
        #[arg(long)]
        until_drained: bool,
        /// Used by `start`
        #[arg(long, hide = true)]
        detached: bool,
    },
    /// Show the worker's log
    Logs(logs::Args),
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    match &args.action {
        WorkerAction::Start => start(app, screen),
        WorkerAction::Stop => stop(app, screen),
        WorkerAction::Restart => {
            let word = if stop_worker(app)? { "restarted" } else { "started" };
            ensure_running(app)?;
            print_started(app, word, screen)
        }
        WorkerAction::Status => status(app, screen),
        WorkerAction::Run { until_drained: true, .. } => drain(app, screen),
        WorkerAction::Run { detached: true, .. } => run_detached(app),
        WorkerAction::Run { .. } => run_foreground(app, screen),
        WorkerAction::Logs(args) => logs::run(args, app, screen),
    }
}

/// The state of the worker, as `worker` and `status` print it.
#[derive(Serialize)]
pub(super) struct WorkerStatusReport {
    pub(super) running: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<Millis>,
    /// URL of the viewer and the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trouble: Option<String>,
    /// The compressor in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uses: Option<CompressorReport>,
}

impl WorkerStatusReport {
    pub(super) const NOT_RUNNING: Self = Self {
        running: false,
        pid: None,
        version: None,
        since: None,
        address: None,
        trouble: None,
        uses: None,
    };

    /// The report if the state cannot be determined.
    pub(super) fn unknown(error: &anyhow::Error) -> Self {
        Self { trouble: Some(format!("cannot tell whether it is running: {error:#}")), ..Self::NOT_RUNNING }
    }
}

fn address(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

/// Starts the worker unless it is running. Returns the outcome for printing.
pub(super) fn ensure_running(app: &App) -> anyhow::Result<&'static str> {
    let executable = std::env::current_exe().context("cannot determine the path of this executable")?;
    app.data.create()?;
    match spawn::start_and_wait(&executable, &app.data, start_timeout(app))? {
        StartOutcome::Ready => Ok("started"),
        StartOutcome::AlreadyRunning => Ok("already running"),
        StartOutcome::Failed(why) => bail!("failed to start the worker: {why}"),
    }
}

/// Starts the worker, or wakes the running one, so that it synchronises with the team at once.
pub(super) fn ensure_synchronising(app: &App) -> anyhow::Result<()> {
    ensure_running(app)?;
    // A worker of an earlier version does not know the request and looks by itself some seconds later.
    client::send_request(&socket_path(app), "team", Some(Duration::from_secs(READY_SECONDS)))?;
    Ok(())
}

/// How long to wait for the worker to get ready: longer if it has to migrate the database first, which
/// rewrites all of it.
fn start_timeout(app: &App) -> Duration {
    let is_older = matches!(Store::open_read_only(&app.data.db()), Err(StoreError::Older { .. }));
    if !is_older {
        return Duration::from_secs(READY_SECONDS);
    }
    // A failed write does not change the timeout.
    let _ = print_note("the database has an older schema and is migrated first");
    Duration::from_secs(MIGRATED_SECONDS)
}

fn start(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let word = ensure_running(app)?;
    print_started(app, word, screen)
}

fn print_started(app: &App, word: &str, screen: &mut Screen) -> anyhow::Result<()> {
    let report = probe(app)?;
    screen.show(&report, |screen, report| match report.pid {
        Some(pid) => writeln!(screen, "worker {word} (pid {pid})"),
        None => writeln!(screen, "worker {word}"),
    })
}

fn stop(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let was_running = stop_worker(app)?;
    screen.show(&WorkerStatusReport::NOT_RUNNING, |screen, _| {
        let word = if was_running { "stopped" } else { "was not running" };
        writeln!(screen, "worker {word}")
    })
}

/// Stops the worker: asks it, then SIGTERM, then SIGKILL. Returns false if none was running.
pub(super) fn stop_worker(app: &App) -> anyhow::Result<bool> {
    if is_stopped_within(app, Duration::ZERO)? {
        return Ok(false);
    }
    let patience = Duration::from_secs(END_SECONDS);
    // A worker that does not respond gets a signal.
    let asked = client::send_request(&socket_path(app), "stop", Some(Duration::from_secs(2)));
    if !matches!(asked, Ok(Some(_))) {
        signal(app, rustix::process::Signal::TERM)?;
    }
    if is_stopped_within(app, patience)? {
        return Ok(true);
    }
    signal(app, rustix::process::Signal::KILL)?;
    if is_stopped_within(app, patience)? {
        return Ok(true);
    }
    bail!("the worker does not stop");
}

/// Signals the process in the pid file, if it is still the worker.
fn signal(app: &App, signal: rustix::process::Signal) -> anyhow::Result<()> {
    let file = WorkerFile::read(&app.data.worker_pid())?.filter(WorkerFile::is_alive);
    if let Some(pid) = file.and_then(|file| file.process()) {
        rustix::process::kill_process(pid, signal).context("failed to signal the worker")?;
    }
    Ok(())
}

/// Whether no worker is running, now or within this time: the lock can be acquired.
fn is_stopped_within(app: &App, within: Duration) -> anyhow::Result<bool> {
    if !app.data.root().is_dir() {
        return Ok(true);
    }
    let until = Instant::now() + within;
    loop {
        if lock::acquire(&app.data.worker_lock())?.is_some() {
            return Ok(true);
        }
        if Instant::now() >= until {
            return Ok(false);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn status(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let report = probe(app)?;
    screen.show(&report, |screen, report| {
        let (Some(pid), Some(since)) = (report.pid, report.since) else {
            let word = if report.running { "is starting" } else { "is not running" };
            return writeln!(screen, "worker {word}");
        };
        let since = format::ago(since, app.now);
        writeln!(screen, "worker is running (pid {pid}, started {since})")?;
        if let Some(address) = &report.address {
            writeln!(screen, "viewer at {address}; `claude-mem open` opens it")?;
        }
        match &report.trouble {
            Some(trouble) => writeln!(screen, "{trouble}"),
            None => Ok(()),
        }
    })
}

/// Asks the running worker for its state, with a short timeout. Falls back to the pid file.
pub(super) fn probe(app: &App) -> anyhow::Result<WorkerStatusReport> {
    if is_stopped_within(app, Duration::ZERO)? {
        return Ok(WorkerStatusReport::NOT_RUNNING);
    }
    let asked = client::send_request(&socket_path(app), "status", Some(Duration::from_secs(2)));
    let told: Option<WorkerStatus> = asked.ok().flatten().and_then(|text| serde_json::from_str(&text).ok());
    if let Some(told) = told {
        return Ok(WorkerStatusReport {
            running: true,
            pid: Some(told.pid),
            version: Some(told.version),
            since: Some(told.since),
            address: told.port.map(address),
            trouble: told.trouble,
            uses: told.uses,
        });
    }
    let file = WorkerFile::read(&app.data.worker_pid())?.filter(WorkerFile::is_alive);
    Ok(WorkerStatusReport {
        running: true,
        pid: file.as_ref().map(|file| file.pid),
        version: file.as_ref().map(|file| file.version.clone()),
        since: file.as_ref().map(|file| file.since),
        address: file.as_ref().and_then(|file| file.port).map(address),
        trouble: Some("it does not respond".to_owned()),
        uses: None,
    })
}

pub(super) fn socket_path(app: &App) -> PathBuf {
    let short = paths::runtime_dir(|name| std::env::var_os(name));
    app.data.worker_sock(&short)
}

fn plan(app: &App, until_drained: bool) -> anyhow::Result<WorkerOptions> {
    let loaded = app.settings();
    let settings = claude_mem_worker::conservative_retention(loaded.settings, loaded.file_unreadable);
    let log = LogWriter::new(app.data.logs(), LogAuthor::Worker, (&settings).into());
    log_panics(&log);
    for warning in &loaded.warnings {
        let now = clock::now().millis();
        log.line(now, LogLevel::Warn, "setting ignored", &[("said", warning)]);
    }
    Ok(WorkerOptions {
        dir: app.data.clone(),
        socket: socket_path(app),
        home: recorded_claude(&app.data).home.to_string_lossy().into_owned(),
        executable: std::env::current_exe().context("cannot determine the path of this executable")?,
        until_drained,
        env: |name| std::env::var(name).ok(),
        live: Arc::new(LiveSettings::new(app.data.root().to_owned(), |name| std::env::var(name).ok())),
        log,
        settings,
    })
}

/// The compressor of the settings, which follows their changes.
fn compressor(store: &Arc<SharedStore>, plan: &WorkerOptions) -> Arc<dyn Compressor> {
    let process = ProcessEnv::current(recorded_claude);
    let source = ConfigSource::new(plan.dir.clone(), Arc::clone(&plan.live), process);
    Arc::new(LiveCompressor::start(Arc::clone(store), source, plan.log.clone()))
}

/// The user's Claude Code as install recorded it. `doctor` reports an unreadable manifest; then only the
/// usual places count.
pub(super) fn recorded_claude(dir: &DataDir) -> ClaudeInstall {
    let manifest = InstallManifest::read(&dir.installed()).unwrap_or_default();
    manifest.claude_install(std::env::var_os("HOME").unwrap_or_default().into())
}

/// Logs the location of a panic, which ends the shipped worker. The message is not logged: it may
/// quote memories.
fn log_panics(log: &LogWriter) {
    let (log, otherwise) = (log.clone(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        let at = panic.location().map_or_else(String::new, ToString::to_string);
        log.line(clock::now().millis(), LogLevel::Error, "panic", &[("at", &at)]);
        otherwise(panic);
    }));
}

fn run_foreground(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let plan = plan(app, false)?;
    let executable = plan.executable.clone();
    let ended = claude_mem_worker::run(plan, compressor, |file| {
        // The worker runs even if stdout is closed.
        let _ = writeln!(screen, "worker is running (pid {}); Ctrl-C stops it", file.pid)
            .and_then(|()| screen.flush());
    })?;
    start_replacement(app, &executable, ended)
}

/// Runs the worker as started by `spawn::start`: reports once whether it is ready, then stays silent.
fn run_detached(app: &App) -> anyhow::Result<()> {
    spawn::detach(&app.data);
    let plan = match plan(app, false) {
        Ok(plan) => plan,
        Err(error) => return report_not_started(app, &format!("{error:#}")),
    };
    let executable = plan.executable.clone();
    let mut told = Ok(());
    let ended = claude_mem_worker::run(plan, compressor, |_| {
        told = spawn::report_start(&StartOutcome::Ready);
    });
    match ended {
        Ok(ended) => start_replacement(app, &executable, ended),
        Err(WorkerError::AlreadyRunning) => Ok(spawn::report_start(&StartOutcome::AlreadyRunning)?),
        Err(error) => report_not_started(app, &error.to_string()),
    }
}

/// Logs and reports a failed start. The log matters: a hook does not wait for the worker it starts.
fn report_not_started(app: &App, why: &str) -> anyhow::Result<()> {
    let log = LogWriter::for_worker(&app.data);
    let fields: [(_, &dyn std::fmt::Display); 1] = [("why", &why)];
    let now = clock::now().millis();
    log.line(now, LogLevel::Error, "failed to start the worker", &fields);
    Ok(spawn::report_start(&StartOutcome::Failed(why.to_owned()))?)
}

/// Starts the new worker if the executable was replaced. The path was read when this process started:
/// by now the kernel reports our own executable as deleted.
fn start_replacement(app: &App, executable: &Path, ended: ShutdownReason) -> anyhow::Result<()> {
    if ended == ShutdownReason::ExecutableReplaced
        && let Err(error) = spawn::start_detached(executable, &app.data)
    {
        return report_not_started(app, &format!("{}: {error}", executable.display()));
    }
    Ok(())
}

fn drain(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut said = "claude-mem is not running".to_owned();
    // A worker that is starting gets as much time as one that we start.
    let until = Instant::now() + start_timeout(app);
    while Instant::now() < until {
        match claude_mem_worker::run(plan(app, true)?, compressor, |_| {}) {
            Ok(ShutdownReason::Drained) => return print_drained(screen),
            Ok(_) => bail!("the worker was stopped before the queue was empty"),
            Err(WorkerError::AlreadyRunning) => {}
            Err(error) => return Err(error.into()),
        }
        match client::send_request(&socket_path(app), "drain", None) {
            Ok(Some(reply)) if reply == "drained" => return print_drained(screen),
            // It is stopping or starting: retry with the next one.
            Ok(Some(reply)) => said = reply,
            Ok(None) => {}
            Err(error) => said = error.to_string(),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    bail!("failed to drain the queue: {said}; see `claude-mem worker logs`")
}

fn print_drained(screen: &mut Screen) -> anyhow::Result<()> {
    let value = serde_json::json!({ "drained": true });
    screen.show(&value, |screen, _| writeln!(screen, "the queue is empty"))
}
