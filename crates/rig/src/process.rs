//! Running a program to its end, or to a deadline.
//!
//! Invariant: when [`run`] returns, the program and its process group are dead or have ended by
//! themselves; a child that left the group (a detached worker) is the sandbox's to find.

use std::fmt;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

/// How long the output of a program that has ended may stay open before we stop listening. Only
/// a child that inherited it and lives on can make this last.
const DRAIN_SECONDS_MAX: u64 = 5;

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
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = command
        .spawn()
        .unwrap_or_else(|e| panic!("cannot start {command:?}: {e}"));
    let group = Pid::from_child(&child);
    feed(&mut child, stdin.to_vec());
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let ended = wait(child);
    let (status, timed_out) = match ended.recv_timeout(limit) {
        Ok(status) => (status, false),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            // It may have ended this instant: then there is nobody to kill.
            let _ = kill_process_group(group, Signal::KILL);
            (ended.recv().ok().flatten(), true)
        }
    };
    let wall = began.elapsed();
    let (stdout, stdout_held) = stdout.finish();
    let (stderr, stderr_held) = stderr.finish();
    let held_open = stdout_held || stderr_held;
    Output {
        code: status.and_then(|s| s.code()),
        stdout,
        stderr,
        wall,
        timed_out,
        held_open,
    }
}

/// Writes stdin from a thread, so that neither side can wait for the other for ever.
fn feed(child: &mut Child, bytes: Vec<u8>) {
    if let Some(mut stdin) = child.stdin.take() {
        // A program may well end without reading all of its input.
        std::thread::spawn(move || drop(stdin.write_all(&bytes)));
    }
}

fn wait(mut child: Child) -> Receiver<Option<ExitStatus>> {
    let (tell, ended) = mpsc::channel();
    std::thread::spawn(move || tell.send(child.wait().ok()));
    ended
}

/// A stream being read in the background.
#[derive(Debug)]
pub(crate) struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    done: Receiver<()>,
}

pub(crate) fn collect(stream: Option<impl Read + Send + 'static>) -> Collected {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let (tell, done) = mpsc::channel::<()>();
    if let Some(mut stream) = stream {
        let into = Arc::clone(&bytes);
        std::thread::spawn(move || {
            let mut piece = [0; 16 << 10];
            while let Ok(n @ 1..) = stream.read(&mut piece) {
                into.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .extend_from_slice(&piece[..n]);
            }
            drop(tell);
        });
    }
    Collected { bytes, done }
}

impl Collected {
    /// The text so far.
    pub(crate) fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The text, and whether somebody still holds the other end.
    fn finish(self) -> (String, bool) {
        let waited = self
            .done
            .recv_timeout(Duration::from_secs(DRAIN_SECONDS_MAX));
        (self.text(), waited == Err(RecvTimeoutError::Timeout))
    }
}
