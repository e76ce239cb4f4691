//! [`WorkerLink`]: a hook's connection to a running worker, over the worker's Unix socket.
//!
//! The worker already has the encoder and the vectors loaded, so a hook asks it for memories. Every wait
//! is bounded, and the caller falls back to lexical search in its own process.
//!
//! Invariant: a hook has at most one connection, and a worker that it reached is woken: by the recall request,
//! or else by `wake` when the link is dropped.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::Uid;

use crate::ipc::peer;
use crate::ipc::recall_reply::RecallReply;
use claude_mem_core::limits::REQUEST_BYTES_MAX;
use claude_mem_core::paths;
use claude_mem_recall::recall_request::RecallRequest;

/// Milliseconds that a hook waits for the worker to record what was shown, so that the next hook
/// finds the record.
const RECALL_NOTED_MS: u64 = if cfg!(test) { 2_000 } else { 90 };

/// Milliseconds that a hook waits for the worker's recall reply before it searches by itself, without vectors. A warm
/// worker replies within 40 ms. One that has just started, or stores the turn before, takes up to 120 ms on two cores,
/// and the same prompt must get the same memories then.
const RECALL_WORKER_MS: u64 = if cfg!(test) { 1_000 } else { 500 };

/// Milliseconds between two attempts to connect to a worker that is starting; it binds its socket within about 10 ms.
const CONNECT_AGAIN_MS: u64 = 2;

/// Maximum bytes of the worker's reply to a hook.
const REPLY_BYTES_MAX: usize = 64 << 10;

/// The connection of one hook to the worker.
#[derive(Debug)]
pub struct WorkerLink {
    socket: PathBuf,
    owner: Uid,
    state: LinkState,
    /// A worker was started just now and has no socket yet.
    is_starting: bool,
}

#[derive(Debug)]
enum LinkState {
    Untried,
    /// Connected, and no request was sent yet.
    Idle(UnixStream),
    /// The request was sent, or there is no worker to send one to.
    Done,
}

impl WorkerLink {
    pub fn new(socket: PathBuf) -> Self {
        Self { socket, owner: rustix::process::getuid(), state: LinkState::Untried, is_starting: false }
    }

    /// Makes a recall request wait for a worker that was started just now.
    pub fn await_start(&mut self) {
        self.is_starting = true;
    }

    /// Connects, unless that was tried before. Returns false if no worker runs, and an error if the
    /// socket cannot be reached, which callers treat as no worker.
    pub fn connect(&mut self) -> io::Result<bool> {
        use io::ErrorKind::{ConnectionRefused, NotFound, WouldBlock};
        match std::mem::replace(&mut self.state, LinkState::Done) {
            LinkState::Untried => {}
            LinkState::Done => return Ok(false),
            idle @ LinkState::Idle(_) => {
                self.state = idle;
                return Ok(true);
            }
        }
        match connect(&self.socket, self.owner) {
            Ok(stream) => {
                self.state = LinkState::Idle(stream);
                Ok(true)
            }
            Err(e) => match e.kind() {
                // The worker runs, and its connection backlog is full.
                WouldBlock => Ok(true),
                NotFound | ConnectionRefused => Ok(false),
                _ => Err(e),
            },
        }
    }

    /// Tells a connected worker that events are waiting, unless it had a request.
    pub fn wake(&mut self) {
        if let LinkState::Idle(mut stream) = std::mem::replace(&mut self.state, LinkState::Done) {
            // A worker that accepted the connection is awake, even if this write fails.
            let _ = stream.write_all(b"wake\n");
        }
    }

    /// Asks the worker for memories, which also wakes it. `None` if no worker runs, or if it does not
    /// reply in time. The worker records the reply as shown only after the `heard` acknowledgement.
    pub fn request_recall(&mut self, request: &RecallRequest) -> io::Result<Option<RecallReply>> {
        use io::ErrorKind::{TimedOut, WouldBlock};
        let until = Instant::now() + Duration::from_millis(RECALL_WORKER_MS);
        let request = format!("recall {}\n", serde_json::to_string(request)?);
        if request.len() as u64 > REQUEST_BYTES_MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.connect()?;
        while self.is_starting && !matches!(self.state, LinkState::Idle(_)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(CONNECT_AGAIN_MS));
            self.state = LinkState::Untried;
            self.connect()?;
        }
        let LinkState::Idle(mut stream) = std::mem::replace(&mut self.state, LinkState::Done) else {
            return Ok(None);
        };
        match exchange_recall(&mut stream, &request, until) {
            Err(e) if matches!(e.kind(), TimedOut | WouldBlock) => Ok(None),
            reply => reply.map(Some),
        }
    }
}

impl Drop for WorkerLink {
    fn drop(&mut self) {
        self.wake();
    }
}

fn exchange_recall(stream: &mut UnixStream, request: &str, until: Instant) -> io::Result<RecallReply> {
    stream.set_write_timeout(Some(remaining_time(until)?))?;
    stream.write_all(request.as_bytes())?;
    let reply = serde_json::from_slice(&read_line(stream, until)?)?;
    stream.write_all(b"heard\n")?;
    // Wait until the worker has recorded it, so that the next hook finds the record. A worker that
    // misses this deadline still records it.
    let noted = Instant::now() + Duration::from_millis(RECALL_NOTED_MS);
    let _ = read_line(stream, noted);
    Ok(reply)
}

/// Connects without blocking: if the backlog is full the worker is busy, so give up. A socket of
/// another user than `owner` is refused.
fn connect(socket: &Path, owner: Uid) -> io::Result<UnixStream> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let end = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    paths::with_socket_path(socket, |socket| Ok(rustix::net::connect(&end, &SocketAddrUnix::new(socket)?)?))?;
    let stream = UnixStream::from(end);
    peer::ensure_same_user(&stream, owner)?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

fn read_line(stream: &mut UnixStream, until: Instant) -> io::Result<Vec<u8>> {
    let (mut line, mut chunk) = (Vec::new(), [0; 4096]);
    while line.last() != Some(&b'\n') {
        stream.set_read_timeout(Some(remaining_time(until)?))?;
        match stream.read(&mut chunk)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ if line.len() > REPLY_BYTES_MAX => return Err(io::ErrorKind::InvalidData.into()),
            n => line.extend_from_slice(&chunk[..n]),
        }
    }
    Ok(line)
}

/// The time left before the deadline, or `TimedOut`.
fn remaining_time(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

#[cfg(test)]
#[path = "worker_link_tests.rs"]
mod tests;
