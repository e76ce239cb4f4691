//! Connections: so many at a time, and none that is only held.
//!
//! Anybody on this machine can connect, long before a request can be judged. Whoever holds on
//! without a word is let go, and those who come while all places are taken wait in the kernel's
//! line: the files that the worker needs for its own work stay free.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

use crate::limits::{HTTP_CONNECTIONS_MAX, HTTP_SILENCE_SECONDS_MAX};

pub(super) struct Door {
    listener: TcpListener,
    places: Arc<Semaphore>,
}

impl Door {
    pub(super) fn new(listener: TcpListener) -> Self {
        Self {
            listener,
            places: Arc::new(Semaphore::new(HTTP_CONNECTIONS_MAX)),
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
                    // An event that waits for the next one to fill a packet is late.
                    let _ = stream.set_nodelay(true);
                    return (Guest::new(stream, place), from);
                }
                // Out of files, or the other end gave up: neither ends the server.
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// One connection, for as long as something is said on it.
pub(super) struct Guest {
    stream: TcpStream,
    silence: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
}

const PATIENCE: Duration = Duration::from_secs(HTTP_SILENCE_SECONDS_MAX);

impl Guest {
    fn new(stream: TcpStream, place: OwnedSemaphorePermit) -> Self {
        Self {
            stream,
            silence: Box::pin(sleep(PATIENCE)),
            _place: place,
        }
    }

    fn heard(&mut self) {
        self.silence.as_mut().reset(Instant::now() + PATIENCE);
    }
}

impl AsyncRead for Guest {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, into);
        if read.is_ready() {
            self.heard();
            return read;
        }
        match self.silence.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
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
