//! `claude-mem worker`: start, stop and watch the process that makes memories.

mod logs;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::app::App;
use super::screen::{Screen, remark};
use super::words;
use crate::clock::{self, Millis};
use crate::limits::{END_SECONDS, MIGRATED_SECONDS, READY_SECONDS};
use crate::log::{Author, Level, Log};
use crate::paths;
use crate::serve::compressor::{self, Surroundings};
use crate::serve::drain::Compressor;
use crate::serve::lifecycle::{self, Ended, NotRun, Plan};
use crate::serve::pidfile::WorkerFile;
use crate::serve::shared::SharedStore;
use crate::serve::spawn::{self, Started};
use crate::serve::{client, lock, socket};
use crate::store::{Store, StoreError};

/// Start, stop or watch the process that makes memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem worker start
  claude-mem worker status
  claude-mem worker logs -f              what it does, as it does it
  claude-mem worker run --until-drained  make memories of all that waits, then end (for cron)

Hooks start the worker when there is work, and it ends by itself when nobody needs it;
`claude-mem config set worker manual` leaves both to you.")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Start it in the background; returns when it is ready
    Start,
    /// End it in order; what it works on stays queued
    Stop,
    /// Stop and start
    Restart,
    /// Show whether it runs, and how it is
    Status,
    /// Run it here, in the foreground
    Run {
        /// End when the queue is empty; if a worker runs, wait for that one instead
        #[arg(long)]
        until_drained: bool,
        /// As `start` calls it
        #[arg(long, hide = true)]
        detached: bool,
    },
    /// Show its log
    Logs(logs::Args),
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    match &args.action {
        Action::Start => start(app, screen),
        Action::Stop => stop(app, screen),
        Action::Restart => {
            let word = if end(app)? { "restarted" } else { "started" };
            ensure(app)?;
            say_started(app, word, screen)
        }
        Action::Status => status(app, screen),
        Action::Run {
            until_drained: true,
            ..
        } => drain(app, screen),
        Action::Run { detached: true, .. } => detached(app),
        Action::Run { .. } => foreground(app, screen),
        Action::Logs(args) => logs::run(args, app, screen),
    }
}

/// What the actions report.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) running: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<Millis>,
    /// Of the viewer and the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trouble: Option<String>,
}

impl Report {
    pub(super) const NOT_RUNNING: Self = Self {
        running: false,
        pid: None,
        version: None,
        since: None,
        address: None,
        trouble: None,
    };

    /// Whether it runs could not be found out.
    pub(super) fn unknown(error: &anyhow::Error) -> Self {
        Self {
            trouble: Some(format!("whether it runs cannot be told: {error:#}")),
            ..Self::NOT_RUNNING
        }
    }
}

fn address(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

/// Starts one, unless one runs. How that went, in a word.
pub(super) fn ensure(app: &App) -> anyhow::Result<&'static str> {
    let executable = std::env::current_exe().context("this executable has no path")?;
    app.data.create()?;
    match spawn::start(&executable, &app.data, patience(app))? {
        Started::Ready => Ok("started"),
        Started::Running => Ok("running already"),
        Started::Failed(why) => bail!("the worker did not start: {why}"),
    }
}

/// How long a worker may take to get ready: one that finds a database of an older version has all
/// of it to rewrite first.
fn patience(app: &App) -> Duration {
    let is_older = matches!(
        Store::open_read_only(&app.data.db()),
        Err(StoreError::Older { .. })
    );
    if !is_older {
        return Duration::from_secs(READY_SECONDS);
    }
    // Whoever cannot be told does not wait any less.
    let _ = remark("the database is of an older version: it is rewritten first");
    Duration::from_secs(MIGRATED_SECONDS)
}

fn start(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let word = ensure(app)?;
    say_started(app, word, screen)
}

fn say_started(app: &App, word: &str, screen: &mut Screen) -> anyhow::Result<()> {
    let report = look(app)?;
    screen.show(&report, |screen, report| match report.pid {
        Some(pid) => writeln!(screen, "worker {word} (pid {pid})"),
        None => writeln!(screen, "worker {word}"),
    })
}

fn stop(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let was_running = end(app)?;
    screen.show(&Report::NOT_RUNNING, |screen, _| {
        let word = if was_running {
            "stopped"
        } else {
            "was not running"
        };
        writeln!(screen, "worker {word}")
    })
}

/// Asks it to end, then makes it. False if there was none.
pub(super) fn end(app: &App) -> anyhow::Result<bool> {
    if is_free(app, Duration::ZERO)? {
        return Ok(false);
    }
    let patience = Duration::from_secs(END_SECONDS);
    // A worker that does not answer is ended by a signal below.
    let asked = client::ask(&socket_of(app), "stop", Some(Duration::from_secs(2)));
    if !matches!(asked, Ok(Some(_))) {
        signal(app, rustix::process::Signal::TERM)?;
    }
    if is_free(app, patience)? {
        return Ok(true);
    }
    signal(app, rustix::process::Signal::KILL)?;
    if is_free(app, patience)? {
        return Ok(true);
    }
    bail!("the worker does not end");
}

/// Signals the worker of the pid file, if it is still that process.
fn signal(app: &App, signal: rustix::process::Signal) -> anyhow::Result<()> {
    let file = WorkerFile::read(&app.data.worker_pid())?.filter(WorkerFile::is_alive);
    if let Some(pid) = file.and_then(|file| file.process()) {
        rustix::process::kill_process(pid, signal).context("the worker cannot be signalled")?;
    }
    Ok(())
}

/// Whether there is no worker, now or within this time.
fn is_free(app: &App, within: Duration) -> anyhow::Result<bool> {
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
    let report = look(app)?;
    screen.show(&report, |screen, report| {
        let (Some(pid), Some(since)) = (report.pid, report.since) else {
            let word = if report.running {
                "is starting"
            } else {
                "is not running"
            };
            return writeln!(screen, "worker {word}");
        };
        let since = words::ago(since, app.now);
        writeln!(screen, "worker runs (pid {pid}, started {since})")?;
        if let Some(address) = &report.address {
            writeln!(screen, "viewer at {address}; `claude-mem open` opens it")?;
        }
        match &report.trouble {
            Some(trouble) => writeln!(screen, "{trouble}"),
            None => Ok(()),
        }
    })
}

/// Whether it runs, without waiting long for one that does not answer.
pub(super) fn look(app: &App) -> anyhow::Result<Report> {
    if is_free(app, Duration::ZERO)? {
        return Ok(Report::NOT_RUNNING);
    }
    let asked = client::ask(&socket_of(app), "status", Some(Duration::from_secs(2)));
    let told: Option<socket::Report> = asked
        .ok()
        .flatten()
        .and_then(|text| serde_json::from_str(&text).ok());
    if let Some(told) = told {
        return Ok(Report {
            running: true,
            pid: Some(told.pid),
            version: Some(told.version),
            since: Some(told.since),
            address: told.port.map(address),
            trouble: told.trouble,
        });
    }
    let file = WorkerFile::read(&app.data.worker_pid())?.filter(WorkerFile::is_alive);
    Ok(Report {
        running: true,
        pid: file.as_ref().map(|file| file.pid),
        version: file.as_ref().map(|file| file.version.clone()),
        since: file.as_ref().map(|file| file.since),
        address: file.as_ref().and_then(|file| file.port).map(address),
        trouble: Some("it does not answer".to_owned()),
    })
}

pub(super) fn socket_of(app: &App) -> PathBuf {
    let short = paths::short_dir(|name| std::env::var_os(name));
    app.data.worker_sock(&short)
}

fn plan(app: &App, until_drained: bool) -> anyhow::Result<Plan> {
    let loaded = app.settings();
    let settings = lifecycle::careful(loaded.settings, loaded.file_unreadable);
    let log = Log::new(app.data.logs(), Author::Worker, (&settings).into());
    log_panics(&log);
    for warning in &loaded.warnings {
        let now = clock::now().millis();
        log.line(
            now,
            Level::Warn,
            "a setting has no effect",
            &[("said", warning)],
        );
    }
    Ok(Plan {
        dir: app.data.clone(),
        socket: socket_of(app),
        home: std::env::var_os("HOME")
            .map_or_else(String::new, |home| home.to_string_lossy().into_owned()),
        executable: std::env::current_exe().context("this executable has no path")?,
        until_drained,
        env: |name| std::env::var(name).ok(),
        log,
        settings,
    })
}

/// Who makes the memories, as the settings and the environment of this process have it.
fn compressor(store: &Arc<SharedStore>, plan: &Plan) -> Arc<dyn Compressor> {
    compressor::choose(
        store,
        &plan.settings,
        &Surroundings::of_process(),
        &plan.log,
    )
}

/// A panic ends the worker that ships. Its place is logged, and never its message, which may
/// quote what is remembered.
fn log_panics(log: &Log) {
    let (log, otherwise) = (log.clone(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        let at = panic
            .location()
            .map_or_else(String::new, ToString::to_string);
        log.line(
            clock::now().millis(),
            Level::Error,
            "a panic",
            &[("at", &at)],
        );
        otherwise(panic);
    }));
}

fn foreground(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let plan = plan(app, false)?;
    let executable = plan.executable.clone();
    let ended = lifecycle::run(plan, compressor, |file| {
        // If nobody reads it, the worker still runs.
        let _ = writeln!(screen, "worker runs (pid {}); Ctrl-C ends it", file.pid)
            .and_then(|()| screen.flush());
    })?;
    hand_over(app, &executable, ended)
}

/// As `spawn::start` calls it: says how it went, then nothing more.
fn detached(app: &App) -> anyhow::Result<()> {
    spawn::detach(&app.data);
    let plan = match plan(app, false) {
        Ok(plan) => plan,
        Err(error) => return not_started(app, &format!("{error:#}")),
    };
    let executable = plan.executable.clone();
    let mut told = Ok(());
    let ended = lifecycle::run(plan, compressor, |_| {
        told = spawn::tell(&Started::Ready);
    });
    match ended {
        Ok(ended) => hand_over(app, &executable, ended),
        Err(NotRun::Running) => Ok(spawn::tell(&Started::Running)?),
        Err(error) => not_started(app, &error.to_string()),
    }
}

/// Nobody may be there to be told: a hook does not wait for the worker it starts.
fn not_started(app: &App, why: &str) -> anyhow::Result<()> {
    let log = Log::of_worker(&app.data);
    let fields: [(_, &dyn std::fmt::Display); 1] = [("why", &why)];
    let now = clock::now().millis();
    log.line(now, Level::Error, "the worker did not start", &fields);
    Ok(spawn::tell(&Started::Failed(why.to_owned()))?)
}

/// A replaced executable takes over from here. Its path was taken when this process started:
/// now the kernel calls ours deleted.
fn hand_over(app: &App, executable: &Path, ended: Ended) -> anyhow::Result<()> {
    if ended == Ended::Replaced
        && let Err(error) = spawn::launch(executable, &app.data)
    {
        return not_started(app, &format!("{}: {error}", executable.display()));
    }
    Ok(())
}

fn drain(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut said = "the worker does not answer".to_owned();
    // A worker that is about to be ready may be given as much time as one that is started.
    let until = Instant::now() + patience(app);
    while Instant::now() < until {
        match lifecycle::run(plan(app, true)?, compressor, |_| {}) {
            Ok(Ended::Drained) => return drained(screen),
            Ok(_) => bail!("the worker was ended before the queue was empty"),
            Err(NotRun::Running) => {}
            Err(error) => return Err(error.into()),
        }
        match client::ask(&socket_of(app), "drain", None) {
            Ok(Some(reply)) if reply == "drained" => return drained(screen),
            // It is about to end or about to be ready: whoever comes next does the work.
            Ok(Some(reply)) => said = reply,
            Ok(None) => {}
            Err(error) => said = error.to_string(),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    bail!("the queue could not be drained: {said}; `claude-mem worker logs` may say more")
}

fn drained(screen: &mut Screen) -> anyhow::Result<()> {
    let value = serde_json::json!({ "drained": true });
    screen.show(&value, |screen, _| writeln!(screen, "the queue is empty"))
}
