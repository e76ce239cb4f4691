//! Running a program to its end, or to a deadline.
//!
//! Invariant: when [`run`] returns, the program and its process group are dead or have ended by
//! themselves; a child that left the group (a detached worker) is the sandbox's to find.

use std::fmt;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

/// How long the output of a program that has ended may stay open before we stop listening. Only
/// a child that inherited it and lives on can make this last.
const DRAIN_SECONDS_MAX: u64 = 3;

/// What a program did.
#[derive(Clone, Debug)]
pub struct Output {
    /// None if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub wall: Duration,
    /// It was killed because its time was up.
    pub timed_out: bool,
    /// A child outlived it and kept its stdout or stderr open. A client would wait for that.
    pub held_open: bool,
}

impl Output {
    /// Panics, showing everything, unless the program ended by itself with code 0.
    #[track_caller]
    #[allow(
        clippy::return_self_not_must_use,
        reason = "often the assertion is all one wants"
    )]
    pub fn ok(self) -> Self {
        assert!(self.code == Some(0) && !self.timed_out, "{self}");
        self
    }

    /// The whole stdout as one JSON value.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}\n{self}"))
    }

    /// Every line of stdout as JSON.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}\n{line}"));
        self.stdout.lines().map(parse).collect()
    }
}

/// Made for whole-output snapshots: stdout, stderr if any, and how it ended.
impl fmt::Display for Output {
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

/// Runs the command in its own process group with this stdin, and kills the group at the limit.
pub fn run(mut command: Command, stdin: &[u8], limit: Duration) -> Output {
    let began = Instant::now();
    let mut child = spawn(&mut command);
    if let Some(mut pipe) = child.stdin.take() {
        let bytes = stdin.to_vec();
        // From a thread, so that neither side can wait for the other for ever. A program may
        // well end without reading all of its input.
        std::thread::spawn(move || drop(pipe.write_all(&bytes)));
    }
    let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
    Running::of(child).end(began, limit, &stdout, &stderr)
}

/// Starts the command as the leader of its own process group, all three streams piped.
pub(crate) fn spawn(command: &mut Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    command
        .spawn()
        .unwrap_or_else(|e| panic!("cannot start {command:?}: {e}"))
}

/// A program on its way. Dropping it kills its process group.
#[derive(Debug)]
pub(crate) struct Running {
    group: Pid,
    ended: Receiver<Option<ExitStatus>>,
    over: bool,
}

impl Running {
    /// Takes a child that leads its process group.
    pub(crate) fn of(mut child: Child) -> Self {
        let group = Pid::from_child(&child);
        let (tell, ended) = mpsc::channel();
        std::thread::spawn(move || tell.send(child.wait().ok()));
        Self {
            group,
            ended,
            over: false,
        }
    }

    /// Waits for the end and gathers what was said; kills at the limit.
    pub(crate) fn end(
        mut self,
        began: Instant,
        limit: Duration,
        stdout: &Collected,
        stderr: &Collected,
    ) -> Output {
        let (status, timed_out) = match self.ended.recv_timeout(limit) {
            Ok(status) => (status, false),
            Err(_) => (self.kill(), true),
        };
        self.over = true;
        let wall = began.elapsed();
        let over_by = Instant::now() + Duration::from_secs(DRAIN_SECONDS_MAX);
        let held_open = !(stdout.over_by(over_by) && stderr.over_by(over_by));
        let (stdout, stderr) = (stdout.text(), stderr.text());
        Output {
            code: status.and_then(|s| s.code()),
            stdout,
            stderr,
            wall,
            timed_out,
            held_open,
        }
    }

    pub(crate) fn kill(&mut self) -> Option<ExitStatus> {
        // It may have ended this instant: then there is nobody to kill.
        let _ = kill_process_group(self.group, Signal::KILL);
        self.over = true;
        self.ended.recv().ok().flatten()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.over {
            self.kill();
        }
    }
}

/// A stream being read in the background.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collected(Arc<Growing>);

#[derive(Debug, Default)]
struct Growing {
    said: Mutex<Said>,
    grew: Condvar,
}

#[derive(Debug, Default)]
struct Said {
    bytes: Vec<u8>,
    over: bool,
}

pub(crate) fn collect(stream: Option<impl Read + Send + 'static>) -> Collected {
    let collected = Collected::default();
    let into = collected.clone();
    std::thread::spawn(move || {
        let mut piece = [0; 16 << 10];
        let mut stream = stream;
        while let Some(Ok(n @ 1..)) = stream.as_mut().map(|stream| stream.read(&mut piece)) {
            into.said().bytes.extend_from_slice(&piece[..n]);
            into.0.grew.notify_all();
        }
        into.said().over = true;
        into.0.grew.notify_all();
    });
    collected
}

impl Collected {
    /// The text so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.said().bytes).into_owned()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.said().bytes.clone()
    }

    /// Waits until the text is as wanted or the stream ends; false if neither came in time.
    pub(crate) fn wait_until(&self, limit: Duration, wanted: impl Fn(&[u8]) -> bool) -> bool {
        let not_yet = |said: &mut Said| !said.over && !wanted(&said.bytes);
        let waited = self.0.grew.wait_timeout_while(self.said(), limit, not_yet);
        let (said, late) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(said);
        !late.timed_out()
    }

    /// Waits for the stream's end; false if somebody still holds the other end then.
    fn over_by(&self, deadline: Instant) -> bool {
        self.wait_until(deadline.saturating_duration_since(Instant::now()), |_| {
            false
        })
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.0.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
