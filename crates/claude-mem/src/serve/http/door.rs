//! Connections: so many at a time, and none that is only held.
//!
//! Anybody on this machine can connect, long before a request can be judged. So a request's head
//! has to come whole within a few seconds of its first byte, however the bytes are dealt out, and
//! between requests nobody is silent for long. While a request is answered no clock runs. Those
//! who come while all places are taken wait in the kernel's line: the files that the worker needs
//! for its own work stay free.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

use crate::limits::{HTTP_CONNECTIONS_MAX, HTTP_HEAD_SECONDS_MAX, HTTP_SILENCE_SECONDS_MAX};

/// How many are let in, and how long they are waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) places: usize,
    pub(super) head: Duration,
    pub(super) silence: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            places: HTTP_CONNECTIONS_MAX,
            head: Duration::from_secs(HTTP_HEAD_SECONDS_MAX),
            silence: Duration::from_secs(HTTP_SILENCE_SECONDS_MAX),
        }
    }
}

/// Told when nobody can be let in, once until somebody can.
type Trouble = Box<dyn Fn(&io::Error) + Send + Sync>;

pub(super) struct Door {
    listener: TcpListener,
    places: Arc<Semaphore>,
    patience: Patience,
    trouble: Trouble,
    in_trouble: bool,
}

impl Door {
    pub(super) fn new(listener: TcpListener, patience: Patience, trouble: Trouble) -> Self {
        Self {
            listener,
            places: Arc::new(Semaphore::new(patience.places)),
            patience,
            trouble,
            in_trouble: false,
        }
    }

    async fn place(&self) -> OwnedSemaphorePermit {
        match Arc::clone(&self.places).acquire_owned().await {
            Ok(place) => place,
            // It is never closed.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Listener for Door {
    type Io = Guest;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Guest, SocketAddr) {
        let place = self.place().await;
        loop {
            match self.listener.accept().await {
                Ok((stream, from)) => {
                    self.in_trouble = false;
                    // An event that waits for the next one to fill a packet is late.
                    let _ = stream.set_nodelay(true);
                    return (Guest::new(stream, place, self.patience), from);
                }
                // Out of files, or the other end gave up: neither ends the server.
                Err(error) => {
                    let gave_up = error.kind() == io::ErrorKind::ConnectionAborted;
                    if !gave_up && !std::mem::replace(&mut self.in_trouble, true) {
                        (self.trouble)(&error);
                    }
                    sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// What a request knows of the connection it came by.
#[derive(Clone, Debug, Default)]
pub(super) struct Connection(Arc<Requests>);

/// How many have begun on a connection, and how many are answered.
#[derive(Debug, Default)]
struct Requests {
    begun: AtomicU64,
    answered: AtomicU64,
}

impl Connection {
    /// A request's head is whole.
    pub(super) fn begin(&self) -> Busy {
        self.0.begun.fetch_add(1, Ordering::Relaxed);
        Busy(self.clone())
    }

    fn begun(&self) -> u64 {
        self.0.begun.load(Ordering::Relaxed)
    }

    fn is_busy(&self) -> bool {
        self.begun() > self.0.answered.load(Ordering::Relaxed)
    }
}

/// While it lives, a request is being answered.
#[derive(Debug)]
pub(super) struct Busy(Connection);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.0.answered.fetch_add(1, Ordering::Relaxed);
    }
}

impl Connected<IncomingStream<'_, Door>> for Connection {
    fn connect_info(stream: IncomingStream<'_, Door>) -> Self {
        stream.io().connection.clone()
    }
}

/// One connection, for as long as something is said on it.
pub(super) struct Guest {
    stream: TcpStream,
    connection: Connection,
    patience: Patience,
    /// Requests that had begun when a head was last waited for.
    begun: u64,
    /// When the head that is coming has to be whole.
    head_by: Option<Instant>,
    /// When it was last heard of.
    heard: Instant,
    alarm: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
}

impl Guest {
    fn new(stream: TcpStream, place: OwnedSemaphorePermit, patience: Patience) -> Self {
        let now = Instant::now();
        Self {
            stream,
            connection: Connection::default(),
            patience,
            begun: 0,
            head_by: Some(now + patience.head),
            heard: now,
            alarm: Box::pin(sleep(patience.head)),
            _place: place,
        }
    }

    /// A head that has come whole is not waited for any more.
    fn catch_up(&mut self) {
        let begun = self.connection.begun();
        if begun != self.begun {
            self.begun = begun;
            self.head_by = None;
        }
    }

    fn heard(&mut self) {
        self.heard = Instant::now();
    }

    /// Ready when it has been waited for long enough. While a request is answered the alarm only
    /// makes sure that this is asked again: nobody need look after the answer is written.
    fn poll_patience(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let (now, busy) = (Instant::now(), self.connection.is_busy());
            let until = match self.head_by {
                _ if busy => now + self.patience.silence,
                Some(head_by) => head_by,
                None => self.heard + self.patience.silence,
            };
            if until <= now {
                return Poll::Ready(());
            }
            if self.alarm.is_elapsed() || (!busy && self.alarm.deadline() != until) {
                self.alarm.as_mut().reset(until);
            }
            if self.alarm.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

impl AsyncRead for Guest {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.catch_up();
        // First, or one that always has another byte would never be let go.
        if self.head_by.is_some() && self.poll_patience(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        let read = Pin::new(&mut self.stream).poll_read(cx, into);
        if read.is_ready() {
            self.heard();
            if self.head_by.is_none() && !self.connection.is_busy() {
                self.head_by = Some(self.heard + self.patience.head);
            }
            return read;
        }
        self.poll_patience(cx)
            .map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for Guest {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, from);
        if written.is_ready() {
            self.heard();
        }
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, from);
        if written.is_ready() {
            self.heard();
        }
        written
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
#[path = "door_tests.rs"]
mod tests;
