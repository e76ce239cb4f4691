//! [`serve`] accepts a bounded number of connections and closes those that stall.
//!
//! Any local process can connect before the guard sees a request. So each request head must be
//! complete within a few seconds, counted from the connection or from the previous response, however
//! slowly its bytes arrive; and a client must take what it is sent ([`StreamWriteTimeout`]), or its event
//! stream would be held for ever. Handlers take as long as they need. When all slots are taken,
//! further clients wait in the kernel's backlog, so that the worker never runs out of file
//! descriptors for its own work.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Sleep, sleep};

use super::socket_owner;
use claude_mem_core::limits::HTTP_CONNECTIONS_MAX;

/// Maximum seconds from the connection, or from the previous response, to the end of a request head.
const HTTP_HEAD_SECONDS_MAX: u64 = 10;

/// Seconds that a client may take to read anything of its response before it is disconnected.
const HTTP_WRITE_SECONDS_MAX: u64 = 30;

/// Maximum connections of other users of the machine; further ones are closed at once.
const HTTP_STRANGERS_MAX: usize = 8;

/// Number of connections, time for a request head, and time for a client to take any bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListenerLimits {
    pub(super) connections_max: usize,
    pub(super) head: Duration,
    pub(super) write: Duration,
    /// Of these, how many other users of the machine may have.
    pub(super) strangers_max: usize,
    /// Whether the first address belongs to another user; the second is ours.
    pub(super) is_stranger: fn(SocketAddr, SocketAddr) -> bool,
}

impl Default for ListenerLimits {
    fn default() -> Self {
        Self {
            connections_max: HTTP_CONNECTIONS_MAX,
            head: Duration::from_secs(HTTP_HEAD_SECONDS_MAX),
            write: Duration::from_secs(HTTP_WRITE_SECONDS_MAX),
            strangers_max: HTTP_STRANGERS_MAX,
            is_stranger: socket_owner::is_stranger,
        }
    }
}

/// Serves until `shutdown` is true, then waits for running requests. `on_accept_error` is called
/// when accepting fails, once until it succeeds again.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ListenerLimits,
    on_accept_error: impl Fn(&io::Error),
    mut shutdown: watch::Receiver<bool>,
) {
    let slots = ConnectionSlots {
        own: Arc::new(Semaphore::new(limits.connections_max)),
        strangers: Arc::new(Semaphore::new(limits.strangers_max)),
        is_stranger: limits.is_stranger,
    };
    let connections = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head);
    loop {
        let (stream, slot) = tokio::select! {
            Some(accepted) = accept(&listener, &slots, &on_accept_error) => accepted,
            // An error means that the sender, and with it the server, was dropped.
            _ = shutdown.wait_for(|ending| *ending) => break,
        };
        let stream = TokioIo::new(StreamWriteTimeout { stream, limit: limits.write, stalled: None });
        let service = TowerToHyperService::new(router.clone());
        let connection = connections.watch(http.serve_connection(stream, service));
        tokio::spawn(async move {
            // An error means that the client is gone or was too slow.
            let _ = connection.await;
            drop(slot);
        });
    }
    drop(listener);
    connections.shutdown().await;
}

/// Slots for connections: other users of the machine have few of their own, so that they cannot take ours.
struct ConnectionSlots {
    own: Arc<Semaphore>,
    strangers: Arc<Semaphore>,
    is_stranger: fn(SocketAddr, SocketAddr) -> bool,
}

impl ConnectionSlots {
    fn is_stranger(&self, stream: &TcpStream, peer: SocketAddr) -> bool {
        stream.local_addr().is_ok_and(|local| (self.is_stranger)(peer, local))
    }
}

/// The next connection, once there is a slot for it. `None` if the semaphore is closed, which it
/// never is.
async fn accept(
    listener: &TcpListener,
    slots: &ConnectionSlots,
    on_error: &impl Fn(&io::Error),
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let own_slot = Arc::clone(&slots.own).acquire_owned().await.ok()?;
    let mut is_failing = false;
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Nagle's algorithm would delay server-sent events.
                let _ = stream.set_nodelay(true);
                if !slots.is_stranger(&stream, peer) {
                    return Some((stream, own_slot));
                }
                // Without a slot for strangers the connection is dropped.
                if let Ok(slot) = Arc::clone(&slots.strangers).try_acquire_owned() {
                    return Some((stream, slot));
                }
            }
            // No file descriptors left, or the client gave up: neither ends the server.
            Err(error) => {
                let gave_up = error.kind() == io::ErrorKind::ConnectionAborted;
                if !gave_up && !std::mem::replace(&mut is_failing, true) {
                    on_error(&error);
                }
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// A connection that fails with `TimedOut` when its client reads nothing for too long.
struct StreamWriteTimeout {
    stream: TcpStream,
    limit: Duration,
    /// Runs while a write waits.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl StreamWriteTimeout {
    fn limit_wait<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let timer = self.stalled.get_or_insert_with(|| Box::pin(sleep(self.limit)));
        timer.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for StreamWriteTimeout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl AsyncWrite for StreamWriteTimeout {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, from);
        self.limit_wait(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, from);
        self.limit_wait(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
#[path = "listener_tests.rs"]
mod tests;
