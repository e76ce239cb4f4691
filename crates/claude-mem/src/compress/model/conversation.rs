//! Lines to and from one child, none of which can make us wait or grow without bound.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::ExitStatus;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{ModelError, Usage};
use crate::child::Child;
use crate::limits::{MODEL_BODY_BYTES_MAX, MODEL_CHILD_GRACE_MS, MODEL_STDERR_BYTES_MAX};

/// Lines that wait to be heard. A child that says more is held up, not remembered.
const LINES_WAITING_MAX: usize = 16;

/// Why no line came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    TimedOut,
    /// The child closed its output.
    Closed,
    TooLong,
    Garbled,
}

#[derive(Debug)]
pub(super) struct Conversation {
    child: Child,
    input: Sender<Vec<u8>>,
    output: Receiver<Result<Vec<u8>, Ended>>,
    complaints: Receiver<Vec<u8>>,
    /// Whether the child has said anything at all.
    pub(super) has_spoken: bool,
    pub(super) system: String,
    /// Tokens that each further turn sends again.
    pub(super) carried_tokens: u64,
    pub(super) turns: u32,
    /// What it has been charged for.
    billed: Usage,
}

impl Conversation {
    pub(super) fn with(mut child: Child, system: &str) -> Result<Self, ModelError> {
        let streams = (child.take_stdin(), child.take_stdout(), child.take_stderr());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(ModelError::unreachable("claude has no streams"));
        };
        let (input, to_write) = mpsc::channel();
        let (lines, output) = mpsc::sync_channel(LINES_WAITING_MAX);
        let (complain, complaints) = mpsc::channel();
        // Each thread ends with its pipe, and the pipes end with the child.
        std::thread::spawn(move || write(stdin, &to_write));
        std::thread::spawn(move || read_lines(BufReader::new(stdout), &lines));
        std::thread::spawn(move || drop(complain.send(first_of(stderr))));
        Ok(Self {
            child,
            input,
            output,
            complaints,
            has_spoken: false,
            system: system.to_owned(),
            carried_tokens: 0,
            turns: 0,
            billed: Usage::default(),
        })
    }

    /// Says one line. Whether it was heard is seen by the answer.
    pub(super) fn say(&mut self, line: &Value) {
        self.has_spoken = false;
        drop(self.input.send(format!("{line}\n").into_bytes()));
    }

    pub(super) fn next_line(&mut self, until: Instant) -> Result<Vec<u8>, Ended> {
        let left = until.saturating_duration_since(Instant::now());
        let line = self.output.recv_timeout(left).map_err(|e| match e {
            RecvTimeoutError::Timeout => Ended::TimedOut,
            RecvTimeoutError::Disconnected => Ended::Closed,
        })?;
        self.has_spoken = true;
        line
    }

    /// What to charge for a turn: what it says of itself, or more if the client has used more
    /// since the last one, for requests that it made on the side.
    pub(super) fn bill(&mut self, of_turn: Option<Usage>, in_all: Option<Usage>) -> Option<Usage> {
        let since = in_all.map(|in_all| Usage {
            input: in_all.input.saturating_sub(self.billed.input),
            output: in_all.output.saturating_sub(self.billed.output),
        });
        self.billed = in_all.unwrap_or(self.billed);
        match (of_turn, since) {
            (Some(turn), Some(since)) => Some(Usage {
                input: turn.input.max(since.input),
                output: turn.output.max(since.output),
            }),
            (one, other) => one.or(other),
        }
    }

    /// How a child that closed its output ended, and what it complained of.
    pub(super) fn post_mortem(mut self) -> (Option<ExitStatus>, String) {
        let grace = Duration::from_millis(MODEL_CHILD_GRACE_MS);
        let status = self.child.wait(grace).ok().flatten();
        self.child.kill();
        let complaint = self.complaints.recv_timeout(grace).unwrap_or_default();
        (status, String::from_utf8_lossy(&complaint).into_owned())
    }

    /// Closes the child's input, upon which it ends by itself.
    pub(super) fn close(self) {
        drop(self.input);
        self.child.stop(Duration::from_millis(MODEL_CHILD_GRACE_MS));
    }
}

fn write(mut stdin: impl Write, lines: &Receiver<Vec<u8>>) {
    for line in lines {
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(mut stdout: impl BufRead, lines: &SyncSender<Result<Vec<u8>, Ended>>) {
    loop {
        let mut line = Vec::new();
        let read = stdout
            .by_ref()
            .take(MODEL_BODY_BYTES_MAX)
            .read_until(b'\n', &mut line);
        let line = match read {
            Ok(0) | Err(_) => return,
            Ok(_) if line.ends_with(b"\n") => Ok(line),
            Ok(count) if count as u64 >= MODEL_BODY_BYTES_MAX => Err(Ended::TooLong),
            // The output ended in the middle of a line.
            Ok(_) => return,
        };
        let over = line.is_err();
        if lines.send(line).is_err() || over {
            return;
        }
    }
}

/// The first complaint is the telling one; the rest is read so that the child is not held up.
fn first_of(mut stderr: impl Read) -> Vec<u8> {
    let mut first = Vec::new();
    drop(
        stderr
            .by_ref()
            .take(MODEL_STDERR_BYTES_MAX)
            .read_to_end(&mut first),
    );
    drop(std::io::copy(&mut stderr, &mut std::io::sink()));
    first
}
