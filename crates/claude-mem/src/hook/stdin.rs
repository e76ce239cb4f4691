//! Reads what the client says, for as long as it is worth waiting.
//!
//! In: a file descriptor, usually a pipe. Out: bytes, and how they ended. A client that keeps its
//! end open, stops half-way or never writes cannot hold the hook up.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::scan;
use crate::limits::{HOOK_INPUT_BYTES_MAX, STDIN_IDLE_MS, STDIN_MS};

/// What arrived.
#[derive(Debug, Default)]
pub struct Input {
    pub bytes: Vec<u8>,
    /// The payload went on after `HOOK_INPUT_BYTES_MAX`, or stopped in the middle.
    pub cut: bool,
}

/// How long to wait.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    pub first_byte: Duration,
    /// Between two bytes.
    pub idle: Duration,
    pub overall: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_millis(STDIN_IDLE_MS),
            idle: Duration::from_millis(STDIN_IDLE_MS),
            overall: Duration::from_millis(STDIN_MS),
        }
    }
}

enum Ready {
    Yes,
    NotYet,
}

pub fn read(from: impl AsFd, patience: Patience) -> Input {
    read_up_to(from, patience, HOOK_INPUT_BYTES_MAX)
}

fn read_up_to(from: impl AsFd, patience: Patience, bytes_max: usize) -> Input {
    let end = Instant::now() + patience.overall;
    let mut input = Input {
        bytes: Vec::with_capacity(64 << 10),
        cut: false,
    };
    loop {
        if input.bytes.len() >= bytes_max {
            input.cut = !is_at_end(&from, &mut input.bytes, bytes_max, patience, end);
            return input;
        }
        let wait = if input.bytes.is_empty() {
            patience.first_byte
        } else {
            patience.idle
        };
        if !wait_for_more(&from, &input.bytes, wait, end) {
            input.cut = !scan::is_whole(&input.bytes);
            return input;
        }
        let room = rustix::buffer::spare_capacity(&mut input.bytes);
        match rustix::io::read(&from, room) {
            Ok(0) => return input,
            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
            // A closed or unreadable stdin has nothing more to say.
            Err(_) => return input,
        }
        if input.bytes.len() == input.bytes.capacity() {
            input.bytes.reserve(input.bytes.len());
        }
    }
}

/// Waits for more bytes or the end of them. False: nothing more is to be expected, because the
/// value is whole or because the time is up.
fn wait_for_more(from: &impl AsFd, bytes: &[u8], wait: Duration, end: Instant) -> bool {
    // What never ends is always ready.
    if !bytes.is_empty() && Instant::now() >= end {
        return false;
    }
    if let Ready::Yes = ready(from, Duration::ZERO) {
        return true;
    }
    // The last byte tells cheaply that most prefixes are not whole.
    let maybe_whole = bytes.trim_ascii_end().last() == Some(&b'}');
    if maybe_whole && scan::is_whole(bytes) {
        return false;
    }
    let left = end.saturating_duration_since(Instant::now());
    matches!(ready(from, wait.min(left)), Ready::Yes)
}

fn ready(from: &impl AsFd, wait: Duration) -> Ready {
    let mut fds = [PollFd::new(from, PollFlags::IN)];
    let wait = Timespec {
        tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: wait.subsec_nanos().into(),
    };
    match poll(&mut fds, Some(&wait)) {
        Ok(0) | Err(Errno::INTR) => Ready::NotYet,
        // Hung up or in error: the read that follows says which.
        Ok(_) | Err(_) => Ready::Yes,
    }
}

/// Cuts what is too long and takes the rest off the client's hands, so that it does not meet a
/// broken pipe. True if there was no rest.
fn is_at_end(
    from: &impl AsFd,
    bytes: &mut Vec<u8>,
    bytes_max: usize,
    patience: Patience,
    end: Instant,
) -> bool {
    let mut all = bytes.len() == bytes_max;
    bytes.truncate(bytes_max);
    let mut scrap = vec![0; 64 << 10];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if let Ready::NotYet = ready(from, patience.idle.min(left)) {
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
