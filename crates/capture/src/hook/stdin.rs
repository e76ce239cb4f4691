//! Reads the payload from stdin within [`StdinTimeouts`].
//!
//! [`read_stdin`] returns the bytes and whether they were cut. A client that keeps its end of the
//! pipe open, stops half-way or never writes cannot block the hook.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::scan;
use claude_mem_core::limits::{HOOK_INPUT_BYTES_MAX, STDIN_IDLE_MS, STDIN_MS};

/// The bytes that arrived.
#[derive(Debug, Default)]
pub(super) struct HookInput {
    pub bytes: Vec<u8>,
    /// The payload exceeded `HOOK_INPUT_BYTES_MAX` or stopped in the middle.
    pub cut: bool,
}

/// How long to wait for stdin.
#[derive(Clone, Copy, Debug)]
pub(super) struct StdinTimeouts {
    pub first_byte: Duration,
    /// Between two reads.
    pub idle: Duration,
    pub overall: Duration,
}

impl Default for StdinTimeouts {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_millis(STDIN_IDLE_MS),
            idle: Duration::from_millis(STDIN_IDLE_MS),
            overall: Duration::from_millis(STDIN_MS),
        }
    }
}

enum PollReadiness {
    Yes,
    NotYet,
}

/// Reads until the end of input, a complete JSON object, a timeout or the size limit.
pub(super) fn read_stdin(from: impl AsFd, patience: StdinTimeouts) -> HookInput {
    read_up_to(from, patience, HOOK_INPUT_BYTES_MAX)
}

fn read_up_to(from: impl AsFd, patience: StdinTimeouts, bytes_max: usize) -> HookInput {
    let end = Instant::now() + patience.overall;
    let mut input = HookInput { bytes: Vec::with_capacity(64 << 10), cut: false };
    loop {
        if input.bytes.len() >= bytes_max {
            input.cut = !drain_excess(&from, &mut input.bytes, bytes_max, patience, end);
            return input;
        }
        let wait = if input.bytes.is_empty() { patience.first_byte } else { patience.idle };
        if !wait_for_more(&from, &input.bytes, wait, end) {
            input.cut = !scan::is_complete_object(&input.bytes);
            return input;
        }
        let room = rustix::buffer::spare_capacity(&mut input.bytes);
        match rustix::io::read(&from, room) {
            Ok(0) => return input,
            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
            // A closed or unreadable stdin is the end of input.
            Err(_) => return input,
        }
        if input.bytes.len() == input.bytes.capacity() {
            input.bytes.reserve(input.bytes.len());
        }
    }
}

/// Waits for more bytes or the end of input. Returns false if nothing more is expected, because the
/// object is complete or the time is up.
fn wait_for_more(from: &impl AsFd, bytes: &[u8], wait: Duration, end: Instant) -> bool {
    // An endless input is always readable, so check the deadline first.
    if !bytes.is_empty() && Instant::now() >= end {
        return false;
    }
    if let PollReadiness::Yes = poll_readable(from, Duration::ZERO) {
        return true;
    }
    // The last byte cheaply rules out most incomplete prefixes.
    let maybe_whole = bytes.trim_ascii_end().last() == Some(&b'}');
    if maybe_whole && scan::is_complete_object(bytes) {
        return false;
    }
    let left = end.saturating_duration_since(Instant::now());
    matches!(poll_readable(from, wait.min(left)), PollReadiness::Yes)
}

fn poll_readable(from: &impl AsFd, wait: Duration) -> PollReadiness {
    let mut fds = [PollFd::new(from, PollFlags::IN)];
    let wait = Timespec {
        tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: wait.subsec_nanos().into(),
    };
    match poll(&mut fds, Some(&wait)) {
        Ok(0) | Err(Errno::INTR) => PollReadiness::NotYet,
        // Also on hang-up or error: the following read reports it.
        Ok(_) | Err(_) => PollReadiness::Yes,
    }
}

/// Truncates `bytes` to the limit and discards the rest of the input, so that the client does not
/// get a broken pipe. Returns true if there was no rest.
fn drain_excess(
    from: &impl AsFd,
    bytes: &mut Vec<u8>,
    bytes_max: usize,
    patience: StdinTimeouts,
    end: Instant,
) -> bool {
    let mut all = bytes.len() == bytes_max;
    bytes.truncate(bytes_max);
    let mut scrap = vec![0; 64 << 10];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if let PollReadiness::NotYet = poll_readable(from, patience.idle.min(left)) {
            return all;
        }
        match rustix::io::read(from, &mut scrap) {
            Ok(1..) if Instant::now() >= end => return false,
            Ok(1..) => all = false,
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(0) | Err(_) => return all,
        }
    }
}

#[cfg(test)]
#[path = "stdin_tests.rs"]
mod tests;
