//! How others reach the worker: one line in, one line out, over a Unix socket.
//!
//! `wake` says that something was queued and wants no answer. `drain` waits until everything
//! that is queued is settled. `recall` brings memories to mind, and counts them as shown when it
//! hears `heard`. `status` tells how the worker is. `open` makes a link to the viewer that works
//! once, `rotate` a new install token. `stop` ends it. Only processes of the same user are heard.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};

use super::lifecycle::Ended;
use super::told::{self, Told};
use super::worker::Worker;
use crate::clock::Millis;
use crate::context::moment::Moment;
use crate::limits::{REQUEST_BYTES_MAX, REQUEST_SECONDS_MAX, REQUESTS_AT_ONCE_MAX};

/// What `status` tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub pid: u32,
    pub version: String,
    pub since: Millis,
    /// Of the viewer and the API, if they are served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Why memories are not made as they are set up to be, if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// Listens at `path`. A file that lies there belongs to a dead worker: the lock is ours.
pub fn bind(path: &Path) -> io::Result<UnixListener> {
    // One that does not fit into the data directory lies where others may write, too.
    if let (Some(dir), true) = (path.parent(), !path.ends_with("worker.sock")) {
        crate::paths::own_dir(dir)?;
    }
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    let owner_only = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(path, owner_only)?;
    Ok(listener)
}

/// Answers until the runtime ends. Those who come while too many are being answered wait in
/// the kernel's line.
pub async fn listen(listener: UnixListener, worker: Arc<Worker>, end: mpsc::Sender<Ended>) {
    let places = Arc::new(Semaphore::new(REQUESTS_AT_ONCE_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                worker.trouble("a request could not be taken", &error);
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            }
        };
        let (worker, end) = (Arc::clone(&worker), end.clone());
        tokio::spawn(async move {
            if let Err(error) = answer(stream, &worker, &end).await
                && !is_gone(&error)
            {
                worker.trouble("a request could not be answered", &error);
            }
            drop(place);
        });
    }
}

/// Whoever asked and went away needs no answer.
fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, NotConnected, TimedOut, UnexpectedEof};
    matches!(
        error.kind(),
        BrokenPipe | ConnectionReset | NotConnected | TimedOut | UnexpectedEof
    )
}

async fn answer(
    stream: UnixStream,
    worker: &Arc<Worker>,
    end: &mpsc::Sender<Ended>,
) -> io::Result<()> {
    if stream.peer_cred()?.uid() != rustix::process::getuid().as_raw() {
        return Ok(());
    }
    worker.presence.touch(Instant::now());
    worker.nudge.notify_one();
    let (read, mut write) = stream.into_split();
    let mut request = String::new();
    let mut lines = BufReader::new(read.take(REQUEST_BYTES_MAX));
    let patience = Duration::from_secs(REQUEST_SECONDS_MAX);
    tokio::time::timeout(patience, lines.read_line(&mut request)).await??;
    let request = request.trim();
    if let Some(moment) = request.strip_prefix("recall ") {
        return recall(worker, moment, &mut write, lines).await;
    }
    let reply = match request {
        // To have come is to have said it.
        "wake" | "" => {
            worker.drain.ring();
            return Ok(());
        }
        "drain" => drained(worker, lines).await,
        "status" => serde_json::to_string(&worker.report())?,
        "open" => match worker.link() {
            Ok(Some(link)) => link,
            Ok(None) => "the viewer is not served: no port could be had".to_owned(),
            Err(error) => error.to_string(),
        },
        "rotate" => match worker.keys.rotate() {
            Ok(_) => "rotated".to_owned(),
            Err(error) => error.to_string(),
        },
        "stop" => {
            // The other end waits for ours to close, which the end of the process does.
            write.write_all(b"stopping\n").await?;
            let _ = end.send(Ended::Asked).await;
            return Ok(());
        }
        _ => "unknown".to_owned(),
    };
    write.write_all(format!("{reply}\n").as_bytes()).await
}

/// Tells what comes to mind; the one who asked may have stopped waiting for it.
async fn recall(
    worker: &Arc<Worker>,
    moment: &str,
    write: &mut (impl tokio::io::AsyncWrite + Unpin),
    mut lines: BufReader<impl tokio::io::AsyncRead + Unpin>,
) -> io::Result<()> {
    let moment: Moment = serde_json::from_str(moment).map_err(|e| {
        // Where, and not what: it is what somebody said.
        let (kind, column) = (e.classify(), e.column());
        io::Error::other(format!(
            "the moment does not read ({kind:?} at {column}); is the hook of another version?"
        ))
    })?;
    let (looking, asked) = (Arc::clone(worker), moment.clone());
    let recalled = tokio::task::spawn_blocking(move || told::recall(&looking, &asked))
        .await
        .map_err(io::Error::other)?;
    let recalled = match recalled {
        Ok(recalled) => recalled,
        Err(error) => {
            worker.trouble("nothing could be brought to mind", &error);
            return Ok(());
        }
    };
    let reply = serde_json::to_string(&Told {
        text: recalled.text.clone(),
    })?;
    write.write_all(format!("{reply}\n").as_bytes()).await?;
    let mut heard = String::new();
    let patience = Duration::from_secs(REQUEST_SECONDS_MAX);
    tokio::time::timeout(patience, lines.read_line(&mut heard)).await??;
    if heard.trim() != "heard" {
        return Ok(());
    }
    if recalled.items.is_empty() {
        return write.write_all(b"noted\n").await;
    }
    let noting = Arc::clone(worker);
    let noted = tokio::task::spawn_blocking(move || told::heard(&noting, &moment, &recalled));
    if let Err(error) = noted.await.map_err(io::Error::other)? {
        worker.trouble("what was shown could not be noted", &error);
    }
    write.write_all(b"noted\n").await
}

/// Drains, unless the one who asked goes away before it is done.
async fn drained(
    worker: &Arc<Worker>,
    mut lines: BufReader<impl tokio::io::AsyncRead + Unpin>,
) -> String {
    let (left, is_left) = tokio::sync::oneshot::channel::<()>();
    let left_or_not = std::sync::Mutex::new(is_left);
    let draining = {
        let worker = Arc::clone(worker);
        tokio::task::spawn_blocking(move || {
            worker.drain_all(|| {
                let mut is_left = left_or_not
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                is_left.try_recv() == Err(tokio::sync::oneshot::error::TryRecvError::Closed)
            })
        })
    };
    tokio::pin!(draining);
    let mut rest = [0; 1];
    let done = tokio::select! {
        done = &mut draining => done,
        // Nothing more is expected of the one who asked but its end.
        _ = lines.read(&mut rest) => {
            drop(left);
            draining.await
        }
    };
    match done {
        Ok(Ok(true)) => "drained".to_owned(),
        Ok(Ok(false)) => "the worker ended before the queue was empty".to_owned(),
        Ok(Err(error)) => {
            worker.trouble("the queue could not be drained", &error);
            error.to_string()
        }
        Err(_) => "the worker is ending".to_owned(),
    }
}
