//! The worker's Unix socket: one request line, one reply line.
//!
//! - `wake`: events were queued. No reply.
//! - `drain`: replies once all queued events are settled.
//! - `recall`: like `wake`, and replies with a [`RecallReply`]; the memories count as shown once the
//!   hook sends `heard`.
//! - `status`: replies with a [`WorkerStatus`](crate::WorkerStatus).
//! - `open`: creates a single-use link to the viewer.
//! - `rotate`: replaces the install token.
//! - `team`: a team was joined or a project shared; the next round with its server begins at once.
//! - `stop`: shuts the worker down.
//!
//! Invariant: requests of other users are dropped, and reading a request is bounded in size and time.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};

use crate::recall_handler;
use crate::shutdown_reason::ShutdownReason;
use crate::worker::WorkerContext;
use claude_mem_capture::ipc::recall_reply::RecallReply;
use claude_mem_core::limits::REQUEST_BYTES_MAX;
use claude_mem_core::sync::lock;
use claude_mem_recall::recall_request::RecallRequest;

/// Maximum socket requests that are answered concurrently. Further connections wait in the kernel's
/// backlog.
const REQUESTS_AT_ONCE_MAX: usize = 64;

/// Maximum seconds that a socket client may take to send one line of its request.
const REQUEST_SECONDS_MAX: u64 = 5;

/// Listens at `path`. An existing file is left over from a dead worker, since we hold the lock.
pub(crate) fn bind(path: &Path) -> io::Result<UnixListener> {
    // If the data directory's path is too long for a socket, the socket is in a runtime or
    // temporary directory, which must belong to us alone.
    if let (Some(dir), true) = (path.parent(), !path.ends_with(claude_mem_core::paths::SOCKET_NAME)) {
        claude_mem_core::paths::ensure_private_dir(dir)?;
    }
    claude_mem_core::paths::remove_if_exists(path)?;
    let listener = claude_mem_core::paths::with_socket_path(path, |path| UnixListener::bind(path))?;
    let owner_only = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(path, owner_only)?;
    Ok(listener)
}

/// Accepts requests until the runtime ends. Above the limit, connections wait in the kernel's
/// backlog.
pub(crate) async fn listen(
    listener: UnixListener,
    worker: Arc<WorkerContext>,
    end: mpsc::Sender<ShutdownReason>,
) {
    let places = Arc::new(Semaphore::new(REQUESTS_AT_ONCE_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                worker.warn("failed to accept a request", &error);
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            }
        };
        let (worker, end) = (Arc::clone(&worker), end.clone());
        tokio::spawn(async move {
            if let Err(error) = handle_request(stream, &worker, &end).await
                && !is_disconnect(&error)
            {
                worker.warn("failed to answer a request", &error);
            }
            drop(place);
        });
    }
}

/// Whether the error only means that the client went away.
fn is_disconnect(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, NotConnected, TimedOut, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | NotConnected | TimedOut | UnexpectedEof)
}

async fn handle_request(
    stream: UnixStream,
    worker: &Arc<WorkerContext>,
    end: &mpsc::Sender<ShutdownReason>,
) -> io::Result<()> {
    if stream.peer_cred()?.uid() != rustix::process::getuid().as_raw() {
        return Ok(());
    }
    worker.idle.touch(Instant::now());
    worker.shutdown_check.notify_one();
    let (read, mut write) = stream.into_split();
    let mut request = String::new();
    let mut lines = BufReader::new(read.take(REQUEST_BYTES_MAX));
    let patience = Duration::from_secs(REQUEST_SECONDS_MAX);
    tokio::time::timeout(patience, lines.read_line(&mut request)).await??;
    let request = request.trim();
    if let Some(recall) = request.strip_prefix("recall ") {
        // The hook has spooled its event and connects only once.
        worker.scheduler.notify();
        return handle_recall(worker, recall, &mut write, lines).await;
    }
    let reply = match request {
        // Connecting is enough: a hook may close before it has written.
        "wake" | "" => {
            worker.scheduler.notify();
            return Ok(());
        }
        "drain" => handle_drain(worker, lines).await,
        "status" => serde_json::to_string(&worker.status())?,
        "open" => match worker.viewer_link() {
            Ok(Some(link)) => link,
            Ok(None) => "the viewer is unavailable: no port could be bound".to_owned(),
            Err(error) => error.to_string(),
        },
        "rotate" => match worker.keys.rotate() {
            Ok(_) => "rotated".to_owned(),
            Err(error) => error.to_string(),
        },
        "team" => {
            worker.team_signal.notify();
            "notified".to_owned()
        }
        "stop" => {
            // The client waits for the connection to close, which happens when the process ends.
            write.write_all(b"stopping\n").await?;
            let _ = end.send(ShutdownReason::Requested).await;
            return Ok(());
        }
        _ => "unknown".to_owned(),
    };
    write.write_all(format!("{reply}\n").as_bytes()).await
}

/// Replies with recalled memories and records them as shown after the hook's `heard`. A hook that
/// has stopped waiting never sends it.
async fn handle_recall(
    worker: &Arc<WorkerContext>,
    text: &str,
    write: &mut (impl tokio::io::AsyncWrite + Unpin),
    mut lines: BufReader<impl tokio::io::AsyncRead + Unpin>,
) -> io::Result<()> {
    let request: RecallRequest = serde_json::from_str(text).map_err(|e| {
        // The position only: the request quotes the user's prompt, which must not be logged.
        let (kind, column) = (e.classify(), e.column());
        io::Error::other(format!(
            "cannot parse the recall request ({kind:?} at {column}); is the hook from another version?"
        ))
    })?;
    let (looking, asked) = (Arc::clone(worker), request.clone());
    let recalled = tokio::task::spawn_blocking(move || recall_handler::recall(&looking, &asked))
        .await
        .map_err(io::Error::other)?;
    let recalled = match recalled {
        Ok(recalled) => recalled,
        Err(error) => {
            worker.warn("recall failed", &error);
            return Ok(());
        }
    };
    let reply = serde_json::to_string(&RecallReply { text: recalled.text.clone() })?;
    write.write_all(format!("{reply}\n").as_bytes()).await?;
    let mut heard = String::new();
    let patience = Duration::from_secs(REQUEST_SECONDS_MAX);
    tokio::time::timeout(patience, lines.read_line(&mut heard)).await??;
    if heard.trim() != "heard" {
        return Ok(());
    }
    worker.recalls.fetch_add(1, Ordering::Relaxed);
    if recalled.items.is_empty() {
        return write.write_all(b"noted\n").await;
    }
    let noting = Arc::clone(worker);
    let noted =
        tokio::task::spawn_blocking(move || recall_handler::acknowledge(&noting, &request, &recalled));
    if let Err(error) = noted.await.map_err(io::Error::other)? {
        worker.warn("failed to record what was shown", &error);
    }
    write.write_all(b"noted\n").await
}

/// Drains the queue, and stops waiting when the client disconnects.
async fn handle_drain(
    worker: &Arc<WorkerContext>,
    mut lines: BufReader<impl tokio::io::AsyncRead + Unpin>,
) -> String {
    let (left, is_left) = tokio::sync::oneshot::channel::<()>();
    let left_or_not = std::sync::Mutex::new(is_left);
    let draining = {
        let worker = Arc::clone(worker);
        tokio::task::spawn_blocking(move || {
            worker.drain_all(|| {
                let mut is_left = lock(&left_or_not);
                is_left.try_recv() == Err(tokio::sync::oneshot::error::TryRecvError::Closed)
            })
        })
    };
    tokio::pin!(draining);
    let mut rest = [0; 1];
    let done = tokio::select! {
        done = &mut draining => done,
        // The client sends nothing more: a read that returns means it has disconnected.
        _ = lines.read(&mut rest) => {
            drop(left);
            draining.await
        }
    };
    match done {
        Ok(Ok(true)) => "drained".to_owned(),
        Ok(Ok(false)) => "the worker stopped before the queue was empty".to_owned(),
        Ok(Err(error)) => {
            worker.warn("failed to drain the queue", &error);
            error.to_string()
        }
        Err(_) => "the worker is shutting down".to_owned(),
    }
}

#[cfg(test)]
#[path = "socket_tests.rs"]
mod tests;
