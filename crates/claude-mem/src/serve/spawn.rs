//! How a worker comes to life: by another process that does not become its parent.
//!
//! The new process takes a session of its own and holds none of its starter's streams, so that
//! neither a terminal that closes nor a client that waits for a pipe has to do with it.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::limits::ALLOCATOR_VARIABLE;
use crate::paths::DataDir;

/// What became of a worker that was to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Started {
    Ready,
    /// Another one runs already.
    Running,
    /// Why it could not.
    Failed(String),
}

/// What a busy minute took is given back after it: glibc would keep twice the largest buffer there
/// ever was, for every thread. Other systems know nothing of it.
const ALLOCATOR: &str = "glibc.malloc.trim_threshold=131072:glibc.malloc.arena_max=2";

const READY: &str = "ready";
const RUNNING: &str = "running";

/// Starts one and waits until it can be reached.
pub fn start(executable: &Path, dir: &DataDir, within: Duration) -> io::Result<Started> {
    let mut child = command(executable, dir).stdout(Stdio::piped()).spawn()?;
    let Some(stdout) = child.stdout.take() else {
        return Ok(Started::Failed("it has no output".to_owned()));
    };
    let (told, tells) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line);
        // Nobody waits any more: the start took too long.
        let _ = told.send(read.map(|_| line));
    });
    let Ok(line) = tells.recv_timeout(within) else {
        return Ok(Started::Failed("it did not get ready in time".to_owned()));
    };
    Ok(match line?.trim_end() {
        READY => Started::Ready,
        RUNNING => Started::Running,
        "" => Started::Failed("it ended at once; its log may say why".to_owned()),
        why => Started::Failed(why.to_owned()),
    })
}

/// Starts one and does not wait.
pub fn launch(executable: &Path, dir: &DataDir) -> io::Result<()> {
    command(executable, dir).stdout(Stdio::null()).spawn()?;
    Ok(())
}

#[allow(
    clippy::disallowed_methods,
    reason = "the worker must outlive whoever starts it, which no registered child does"
)]
fn command(executable: &Path, dir: &DataDir) -> Command {
    let mut command = Command::new(executable);
    command
        .arg("--data-dir")
        .arg(dir.root())
        .args(["worker", "run", "--detached"])
        .env(ALLOCATOR_VARIABLE, ALLOCATOR)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// The new process's side: a session of its own, and a working directory that nobody wants to
/// unmount.
pub fn detach(dir: &DataDir) {
    // Whoever leads a group already has what is wanted here.
    let _ = rustix::process::setsid();
    let _ = rustix::process::chdir(dir.root());
}

/// Tells the starter how it went, and lets go of its pipe.
pub fn tell(started: &Started) -> io::Result<()> {
    let line = match started {
        Started::Ready => READY,
        Started::Running => RUNNING,
        Started::Failed(why) => why,
    };
    let mut out = io::stdout().lock();
    // A starter that does not wait has closed its end.
    let _ = writeln!(out, "{}", line.replace('\n', " ")).and_then(|()| out.flush());
    let nowhere = std::fs::File::options().write(true).open("/dev/null")?;
    Ok(rustix::stdio::dup2_stdout(nowhere)?)
}
