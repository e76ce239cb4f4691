//! Starts a worker as a detached process.
//!
//! The new process gets its own session and keeps none of its starter's streams, so that it neither
//! dies with a closing terminal nor blocks a client that waits for a pipe to close.
//!
//! Invariant: of its starter's environment the worker gets only [`WORKER_VARIABLES`], because it serves all
//! projects and outlives the session that started it.
//!
//! [`WORKER_VARIABLES`]: claude_mem_core::config::WORKER_VARIABLES

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use claude_mem_core::config::worker_environment;
use claude_mem_core::limits::ALLOCATOR_VARIABLE;
use claude_mem_core::paths::DataDir;

/// The result of starting a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartOutcome {
    Ready,
    /// Another worker is already running.
    AlreadyRunning,
    /// The worker did not start, for this reason.
    Failed(String),
}

/// Makes glibc return memory after a peak: by default it keeps twice the largest buffer ever
/// allocated, per thread. Other systems ignore the variable.
const ALLOCATOR: &str = "glibc.malloc.trim_threshold=131072:glibc.malloc.arena_max=2";

const READY: &str = "ready";
const RUNNING: &str = "running";

/// Starts a worker and waits until it accepts requests, at most `within`.
pub fn start_and_wait(executable: &Path, dir: &DataDir, within: Duration) -> io::Result<StartOutcome> {
    let mut child =
        worker_command(executable, dir, &["worker", "run", "--detached"]).stdout(Stdio::piped()).spawn()?;
    let Some(stdout) = child.stdout.take() else {
        return Ok(StartOutcome::Failed("it has no stdout".to_owned()));
    };
    let (told, tells) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line);
        // Sending fails when the caller has timed out.
        let _ = told.send(read.map(|_| line));
    });
    let Ok(line) = tells.recv_timeout(within) else {
        return Ok(StartOutcome::Failed("it was not ready in time".to_owned()));
    };
    Ok(match line?.trim_end() {
        READY => StartOutcome::Ready,
        RUNNING => StartOutcome::AlreadyRunning,
        "" => StartOutcome::Failed("it exited immediately; its log may say why".to_owned()),
        why => StartOutcome::Failed(why.to_owned()),
    })
}

/// Starts a worker without waiting for it.
pub fn start_detached(executable: &Path, dir: &DataDir) -> io::Result<()> {
    worker_command(executable, dir, &["worker", "run", "--detached"]).stdout(Stdio::null()).spawn()?;
    Ok(())
}

/// Starts a process that replaces the running worker by a new one.
pub fn restart_detached(executable: &Path, dir: &DataDir) -> io::Result<()> {
    worker_command(executable, dir, &["worker", "restart"]).stdout(Stdio::null()).spawn()?;
    Ok(())
}

#[allow(
    clippy::disallowed_methods,
    reason = "the worker must outlive its starter, which no registered child does"
)]
fn worker_command(executable: &Path, dir: &DataDir, args: &[&str]) -> Command {
    let mut command = Command::new(executable);
    command
        .arg("--data-dir")
        .arg(dir.root())
        .args(args)
        .env_clear()
        .envs(worker_environment(|name| std::env::var_os(name)))
        .env(ALLOCATOR_VARIABLE, ALLOCATOR)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Called in the new process: creates its own session, and changes to the data directory, so that
/// the starter's working directory can be unmounted.
pub fn detach(dir: &DataDir) {
    // Fails only for the leader of a process group, which needs no new one.
    let _ = rustix::process::setsid();
    let _ = rustix::process::chdir(dir.root());
}

/// Reports the result to the starter over stdout, then redirects stdout to `/dev/null`.
pub fn report_start(started: &StartOutcome) -> io::Result<()> {
    let line = match started {
        StartOutcome::Ready => READY,
        StartOutcome::AlreadyRunning => RUNNING,
        StartOutcome::Failed(why) => why,
    };
    let mut out = io::stdout().lock();
    // Writing fails if the starter does not wait and has closed the pipe.
    let _ = writeln!(out, "{}", line.replace('\n', " ")).and_then(|()| out.flush());
    let nowhere = std::fs::File::options().write(true).open("/dev/null")?;
    Ok(rustix::stdio::dup2_stdout(nowhere)?)
}
