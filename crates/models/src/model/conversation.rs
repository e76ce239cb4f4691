//! Exchanges lines with one child process, with bounded waits and bounded memory.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::ExitStatus;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::error::ModelError;
use super::token_usage::TokenUsage;
use claude_mem_core::child::ChildProcess;
use claude_mem_core::limits::MODEL_BODY_BYTES_MAX;

/// Milliseconds that a model's child process may take to exit after it was told to.
const MODEL_CHILD_GRACE_MS: u64 = 1_000;

/// Maximum bytes kept of the stderr of a model's child process.
const MODEL_STDERR_BYTES_MAX: u64 = 4 << 10;

/// Capacity of the line queue. A child that writes more is blocked, not buffered.
const LINES_WAITING_MAX: usize = 16;

/// Why no line was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConversationEnd {
    TimedOut,
    /// The child closed its output.
    Closed,
    TooLong,
    Garbled,
}

/// A running conversation with a child process.
#[derive(Debug)]
pub(super) struct ChildConversation {
    child: ChildProcess,
    input: Sender<Vec<u8>>,
    output: Receiver<Result<Vec<u8>, ConversationEnd>>,
    stderr: Receiver<Vec<u8>>,
    /// Whether the child has written a line since the last message.
    pub(super) has_spoken: bool,
    pub(super) system: String,
    /// Tokens that each further turn sends again.
    pub(super) carried_tokens: u64,
    pub(super) turns: u32,
    /// The child's total usage as of the last bill.
    billed: TokenUsage,
}

impl ChildConversation {
    /// Starts the threads that read and write the child's streams.
    pub(super) fn start(mut child: ChildProcess, system: &str) -> Result<Self, ModelError> {
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
        std::thread::spawn(move || drop(complain.send(read_first_bytes(stderr))));
        Ok(Self {
            child,
            input,
            output,
            stderr: complaints,
            has_spoken: false,
            system: system.to_owned(),
            carried_tokens: 0,
            turns: 0,
            billed: TokenUsage::default(),
        })
    }

    /// Sends one line. A failure shows as a missing reply.
    pub(super) fn send_line(&mut self, line: &Value) {
        self.has_spoken = false;
        drop(self.input.send(format!("{line}\n").into_bytes()));
    }

    /// The next line of the child's stdout.
    pub(super) fn next_line(&mut self, until: Instant) -> Result<Vec<u8>, ConversationEnd> {
        let left = until.saturating_duration_since(Instant::now());
        let line = self.output.recv_timeout(left).map_err(|e| match e {
            RecvTimeoutError::Timeout => ConversationEnd::TimedOut,
            RecvTimeoutError::Disconnected => ConversationEnd::Closed,
        })?;
        self.has_spoken = true;
        line
    }

    /// The usage to charge for a turn: the reported usage of the turn, or the growth of the client's
    /// total if that is larger, because the client makes requests of its own.
    pub(super) fn bill_turn(
        &mut self,
        of_turn: Option<TokenUsage>,
        in_all: Option<TokenUsage>,
    ) -> Option<TokenUsage> {
        let since = in_all.map(|in_all| TokenUsage {
            input: in_all.input.saturating_sub(self.billed.input),
            output: in_all.output.saturating_sub(self.billed.output),
        });
        self.billed = in_all.unwrap_or(self.billed);
        match (of_turn, since) {
            (Some(turn), Some(since)) => {
                Some(TokenUsage { input: turn.input.max(since.input), output: turn.output.max(since.output) })
            }
            (one, other) => one.or(other),
        }
    }

    /// The exit status and the stderr of a child that closed its output.
    pub(super) fn post_mortem(mut self) -> (Option<ExitStatus>, String) {
        let grace = Duration::from_millis(MODEL_CHILD_GRACE_MS);
        let status = self.child.wait(grace).ok().flatten();
        self.child.kill();
        let complaint = self.stderr.recv_timeout(grace).unwrap_or_default();
        (status, String::from_utf8_lossy(&complaint).into_owned())
    }

    /// Closes the child's input, which makes it exit.
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

fn read_lines(mut stdout: impl BufRead, lines: &SyncSender<Result<Vec<u8>, ConversationEnd>>) {
    loop {
        let mut line = Vec::new();
        let read = stdout.by_ref().take(MODEL_BODY_BYTES_MAX).read_until(b'\n', &mut line);
        let line = match read {
            Ok(0) | Err(_) => return,
            Ok(_) if line.ends_with(b"\n") => Ok(line),
            Ok(count) if count as u64 >= MODEL_BODY_BYTES_MAX => Err(ConversationEnd::TooLong),
            // The output ended in the middle of a line.
            Ok(_) => return,
        };
        let over = line.is_err();
        if lines.send(line).is_err() || over {
            return;
        }
    }
}

/// Reads the first bytes of stderr, where the cause is, and discards the rest, so that the child is
/// not blocked.
fn read_first_bytes(mut stderr: impl Read) -> Vec<u8> {
    let mut first = Vec::new();
    drop(stderr.by_ref().take(MODEL_STDERR_BYTES_MAX).read_to_end(&mut first));
    drop(std::io::copy(&mut stderr, &mut std::io::sink()));
    first
}
