//! [`serve`] accepts a bounded number of connections, with or without TLS, and ends gracefully.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::gate::PeerAddress;
use super::tls::CertificateFiles;
use super::write_timeout::WriteTimeout;
use crate::log;

/// Time for a request head, counted from the connection or from the previous answer.
const HEAD_SECONDS_MAX: u64 = 75;

/// Time for a TLS handshake.
const HANDSHAKE_SECONDS_MAX: u64 = 10;

/// Time for a client to read anything of its answer.
const WRITE_SECONDS_MAX: u64 = 30;

/// Connections at a time. Further ones wait in the kernel's backlog.
pub(crate) const CONNECTIONS_MAX: usize = 4_000;

/// The listener's settings.
#[derive(Debug)]
pub(crate) struct ListenerSettings {
    pub(crate) certificate: Option<Arc<CertificateFiles>>,
    pub(crate) connections_max: usize,
}

/// Serves until `ending` is true, then waits for running requests, but no longer than `patience`.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    settings: ListenerSettings,
    mut ending: watch::Receiver<bool>,
    patience: Duration,
) {
    let slots = Arc::new(Semaphore::new(settings.connections_max));
    let connections = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(HEAD_SECONDS_MAX));
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &slots) => accepted,
            // An error means that the service was dropped.
            _ = ending.wait_for(|ending| *ending) => break,
        };
        let Some((stream, peer, slot)) = accepted else { break };
        let (router, http, certificate) = (router.clone(), http.clone(), settings.certificate.clone());
        let watcher = connections.watcher();
        tokio::spawn(async move {
            let Some(stream) = MaybeTls::accept(stream, certificate.as_deref()).await else { return };
            let stream = WriteTimeout::new(stream, Duration::from_secs(WRITE_SECONDS_MAX));
            let router = TowerToHyperService::new(router);
            let service = service_fn(move |mut request: hyper::Request<Incoming>| {
                request.extensions_mut().insert(PeerAddress(peer));
                router.call(request)
            });
            // An error means that the client is gone or was too slow.
            let _ = watcher.watch(http.serve_connection(TokioIo::new(stream), service)).await;
            drop(slot);
        });
    }
    drop(listener);
    // After this time the rest is cut off.
    let _ = tokio::time::timeout(patience, connections.shutdown()).await;
}

async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit)> {
    // The semaphore is never closed.
    let slot = Arc::clone(slots).acquire_owned().await.ok()?;
    let mut was_failing = false;
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Without it small answers may wait; failing changes nothing else.
                let _ = stream.set_nodelay(true);
                return Some((stream, peer, slot));
            }
            // No file descriptors left, or the client gave up: neither ends the service.
            Err(error) => {
                let gave_up = error.kind() == io::ErrorKind::ConnectionAborted;
                if !gave_up && !std::mem::replace(&mut was_failing, true) {
                    log::line(&format!("cannot accept connections: {error}"));
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// A connection with or without TLS.
enum MaybeTls {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl MaybeTls {
    /// `None` if the handshake fails or takes too long.
    async fn accept(stream: TcpStream, certificate: Option<&CertificateFiles>) -> Option<Self> {
        let Some(certificate) = certificate else { return Some(Self::Plain(stream)) };
        let handshake = TlsAcceptor::from(certificate.config()).accept(stream);
        let stream =
            tokio::time::timeout(Duration::from_secs(HANDSHAKE_SECONDS_MAX), handshake).await.ok()?;
        Some(Self::Tls(Box::new(stream.ok()?)))
    }
}

impl AsyncRead for MaybeTls {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, into),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, into),
        }
    }
}

impl AsyncWrite for MaybeTls {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, from),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, from),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
