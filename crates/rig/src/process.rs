//! Runs a program to its end or to a deadline and returns its [`ProcessOutput`].
//!
//! Invariant: when [`run`] returns, no process of the program's process group is running. A child that
//! left the group (a detached worker) is found by the sandbox.

use std::fmt;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

/// How long to read the output of a program after its exit. Only a surviving child that inherited it can
/// keep it open.
const DRAIN_SECONDS_MAX: u64 = 3;

/// Exit code, output and duration of a program.
#[derive(Clone, Debug)]
pub struct ProcessOutput {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub wall: Duration,
    /// It was killed at the deadline.
    pub timed_out: bool,
    /// A child outlived it and kept its stdout or stderr open; a client would wait for that.
    pub held_open: bool,
}

impl ProcessOutput {
    /// Panics with the whole output unless the program exited with code 0.
    #[track_caller]
    #[allow(clippy::return_self_not_must_use, reason = "often only the assertion is needed")]
    pub fn ok(self) -> Self {
        assert!(self.code == Some(0) && !self.timed_out, "{self}");
        self
    }

    /// Parses stdout as one JSON value.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}\n{self}"))
    }

    /// Parses every line of stdout as JSON.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}\n{line}"));
        self.stdout.lines().map(parse).collect()
    }
}

/// For snapshots of the whole output: stdout, stderr if any, and the exit code.
impl fmt::Display for ProcessOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stdout)?;
        if !self.stdout.is_empty() && !self.stdout.ends_with('\n') {
            f.write_str("\n")?;
        }
        if !self.stderr.is_empty() {
            writeln!(f, "[stderr]\n{}", self.stderr.trim_end())?;
        }
        match self.code {
            _ if self.timed_out => f.write_str("[killed: its time was up]"),
            Some(code) => write!(f, "[exit {code}]"),
            None => f.write_str("[ended by a signal]"),
        }
    }
}

/// Runs the command in its own process group with this stdin, and kills the group after `limit`.
pub fn run(mut command: Command, stdin: &[u8], limit: Duration) -> ProcessOutput {
    let began = Instant::now();
    let mut child = spawn(&mut command);
    if let Some(mut pipe) = child.stdin.take() {
        let bytes = stdin.to_vec();
        // On a thread, so that the two sides cannot deadlock. A program may exit without reading all of
        // its input, so a write error is ignored.
        std::thread::spawn(move || drop(pipe.write_all(&bytes)));
    }
    let (stdout, stderr) = (capture_stream(child.stdout.take()), capture_stream(child.stderr.take()));
    RunningProcess::from_child(child).wait_with_limit(began, limit, &stdout, &stderr)
}

/// Starts the command as the leader of its own process group, with all three streams piped.
pub(crate) fn spawn(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command.spawn().unwrap_or_else(|e| panic!("cannot start {command:?}: {e}"))
}

/// A running program. Dropping it kills its process group.
#[derive(Debug)]
pub(crate) struct RunningProcess {
    group: Pid,
    ended: Receiver<Option<ExitStatus>>,
    is_over: bool,
}

impl RunningProcess {
    /// Wraps a child that leads its process group.
    pub(crate) fn from_child(mut child: Child) -> Self {
        let group = Pid::from_child(&child);
        let (tell, ended) = mpsc::channel();
        std::thread::spawn(move || tell.send(child.wait().ok()));
        Self { group, ended, is_over: false }
    }

    /// Waits for the exit and collects the output; kills the group after `limit`.
    pub(crate) fn wait_with_limit(
        mut self,
        began: Instant,
        limit: Duration,
        stdout: &StreamCapture,
        stderr: &StreamCapture,
    ) -> ProcessOutput {
        let (status, timed_out) = match self.ended.recv_timeout(limit) {
            Ok(status) => (status, false),
            Err(_) => (self.kill(), true),
        };
        self.is_over = true;
        let wall = began.elapsed();
        let over_by = Instant::now() + Duration::from_secs(DRAIN_SECONDS_MAX);
        let held_open = !(stdout.closed_by(over_by) && stderr.closed_by(over_by));
        let (stdout, stderr) = (stdout.text(), stderr.text());
        ProcessOutput { code: status.and_then(|s| s.code()), stdout, stderr, wall, timed_out, held_open }
    }

    /// Kills the process group and waits for the program.
    pub(crate) fn kill(&mut self) -> Option<ExitStatus> {
        // The group may have exited in the meantime.
        let _ = kill_process_group(self.group, Signal::KILL);
        self.is_over = true;
        self.ended.recv().ok().flatten()
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        if !self.is_over {
            self.kill();
        }
    }
}

/// The bytes of a stream that a background thread reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamCapture(Arc<CaptureInner>);

#[derive(Debug, Default)]
struct CaptureInner {
    captured: Mutex<CapturedBytes>,
    grew: Condvar,
}

#[derive(Debug, Default)]
struct CapturedBytes {
    bytes: Vec<u8>,
    is_closed: bool,
}

/// Reads a stream on a background thread; `None` counts as closed.
pub(crate) fn capture_stream(stream: Option<impl Read + Send + 'static>) -> StreamCapture {
    let collected = StreamCapture::default();
    let into = collected.clone();
    std::thread::spawn(move || {
        let mut piece = [0; 16 << 10];
        let mut stream = stream;
        while let Some(Ok(n @ 1..)) = stream.as_mut().map(|stream| stream.read(&mut piece)) {
            into.lock().bytes.extend_from_slice(&piece[..n]);
            into.0.grew.notify_all();
        }
        into.lock().is_closed = true;
        into.0.grew.notify_all();
    });
    collected
}

impl StreamCapture {
    /// The text read so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.lock().bytes).into_owned()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.lock().bytes.clone()
    }

    /// Waits until the bytes satisfy `wanted` or the stream closes; false on timeout.
    pub(crate) fn wait_until(&self, limit: Duration, wanted: impl Fn(&[u8]) -> bool) -> bool {
        let not_yet = |said: &mut CapturedBytes| !said.is_closed && !wanted(&said.bytes);
        let waited = self.0.grew.wait_timeout_while(self.lock(), limit, not_yet);
        let (said, late) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(said);
        !late.timed_out()
    }

    /// Whether the stream has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Waits until the stream closes; false if another process still holds it open at the deadline.
    fn closed_by(&self, deadline: Instant) -> bool {
        self.wait_until(deadline.saturating_duration_since(Instant::now()), |_| false)
    }

    fn lock(&self) -> MutexGuard<'_, CapturedBytes> {
        self.0.captured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
