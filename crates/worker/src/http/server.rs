//! [`HttpServer`]: binds the port, builds the router from the route table, shuts down gracefully.

use std::future::ready;
use std::io;
use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request};
use axum::http::StatusCode;
use axum::routing::on;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::api::ApiState;
use super::dispatch;
use super::handler_request::PathParams;
use super::listener::{ListenerLimits, serve};
use super::openapi;
use super::routes;
use crate::worker::WorkerContext;
use claude_mem_core::event_key;
use claude_mem_core::paths::{self, DataDir};

/// Base of the default port. The last two digits of the user id are added, so that users differ.
const PORT: u16 = 37_700;

/// Default ports of data directories other than the home directory's: below the ports that systems choose for
/// outgoing connections.
const OTHER_PORTS: Range<u16> = 23_000..27_000;

/// Listens on 127.0.0.1, on the first free port of [`ports_to_try`], and records the port in `dir`.
pub(crate) fn bind(port: u16, dir: &DataDir, home: &Path) -> io::Result<(TcpListener, u16)> {
    let last_port = &dir.worker_port();
    let last = read_port(last_port);
    let mut bound = Err(io::ErrorKind::AddrInUse.into());
    for port in ports_to_try(port, last, default_port(dir, home)).into_iter().flatten() {
        bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let is_taken =
            |e: &io::Error| matches!(e.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied);
        if !bound.as_ref().is_err_and(is_taken) {
            break;
        }
    }
    let listener = bound?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    if last != Some(port) {
        paths::replace_file(last_port, format!("{port}\n").as_bytes())?;
    }
    Ok((listener, port))
}

/// The configured port comes first. Without one (0) it is the last worker's, to which open pages reconnect, then the
/// default one. Any free port comes last.
fn ports_to_try(configured: u16, last: Option<u16>, default: u16) -> [Option<u16>; 3] {
    if configured != 0 {
        return [Some(configured), last, Some(0)];
    }
    [last, Some(default), Some(0)]
}

/// The port of a data directory without a setting. Directories differ: if two shared a port, the second worker could
/// take it while the first one restarts, and open pages would reconnect to the wrong one.
fn default_port(dir: &DataDir, home: &Path) -> u16 {
    if *dir == DataDir::in_home(home) {
        return PORT + (rustix::process::getuid().as_raw() % 100) as u16;
    }
    let [first, second, ..] = event_key::digest(&[dir.root().as_os_str().as_bytes()]);
    OTHER_PORTS.start + u16::from_be_bytes([first, second]) % OTHER_PORTS.len() as u16
}

/// The port in the file; `None` without a readable file.
fn read_port(file: &Path) -> Option<u16> {
    let mut text = String::new();
    paths::open_file(file).ok()?.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// A running HTTP server.
#[derive(Debug)]
pub(crate) struct HttpServer {
    shutdown: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl HttpServer {
    /// Starts to serve. Must be called inside the worker's runtime.
    pub(crate) fn start(
        listener: TcpListener,
        worker: Arc<WorkerContext>,
        env: fn(&str) -> Option<String>,
    ) -> io::Result<Self> {
        Self::start_with_limits(listener, worker, env, ListenerLimits::default())
    }

    /// Like [`HttpServer::start`], with other limits for connections.
    pub(super) fn start_with_limits(
        listener: TcpListener,
        worker: Arc<WorkerContext>,
        env: fn(&str) -> Option<String>,
        limits: ListenerLimits,
    ) -> io::Result<Self> {
        let port = listener.local_addr()?.port();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (end, ending) = watch::channel(false);
        let api = Arc::new(ApiState::new(worker, port, env, ending.clone(), describe_routes));
        let router = build_router(&api);
        let on_accept_error = move |error: &io::Error| api.worker.warn("failed to accept connections", error);
        let serving = serve(listener, router, limits, on_accept_error, ending);
        let task = tokio::spawn(serving);
        Ok(Self { shutdown: end, task })
    }

    /// Shuts down gracefully: accepts no more requests, ends the streams and waits for running
    /// requests, but no longer than `within`.
    pub(crate) async fn stop(mut self, within: Duration) {
        // Without receivers the server has ended already.
        let _ = self.shutdown.send(true);
        if tokio::time::timeout(within, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

/// The OpenAPI document of all routes.
fn describe_routes() -> serde_json::Value {
    openapi::describe(&routes::routes())
}

/// Builds the router from the route table, with fallbacks for everything else.
fn build_router(api: &Arc<ApiState>) -> Router {
    let mut router = Router::new();
    for route in routes::routes() {
        let route = Arc::new(route);
        let (owner, path, method) = (Arc::clone(api), route.path, route.method);
        // The guard has to run first, so axum must not reject an undecodable path itself.
        let handler = move |params: Result<RawPathParams, _>, request: Request| {
            let params: Result<_, RawPathParamsRejection> = params;
            let params = params.ok().as_ref().map(PathParams::from_raw);
            dispatch::handle_route(Arc::clone(&owner), Arc::clone(&route), params, request)
        };
        router = router.route(path, on(method.filter(), handler));
    }
    let (nothing, not_so) = (Arc::clone(api), Arc::clone(api));
    router
        .fallback(move |request: Request| {
            ready(dispatch::handle_unmatched(&nothing, request, StatusCode::NOT_FOUND))
        })
        .method_not_allowed_fallback(move |request: Request| {
            let status = StatusCode::METHOD_NOT_ALLOWED;
            ready(dispatch::handle_unmatched(&not_so, request, status))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_port_comes_before_the_default_but_after_the_configured() {
        assert_eq!(ports_to_try(0, Some(40_001), PORT), [Some(40_001), Some(PORT), Some(0)]);
        assert_eq!(ports_to_try(0, None, PORT), [None, Some(PORT), Some(0)]);
        assert_eq!(ports_to_try(50_000, Some(40_001), PORT), [Some(50_000), Some(40_001), Some(0)]);
    }

    #[test]
    fn other_directories_have_ports_of_their_own() {
        let home = Path::new("/home/kim");
        let port = |dir: &str| default_port(&DataDir::new(dir), home);
        assert!((PORT..PORT + 100).contains(&port("/home/kim/.claude-mem")));
        assert!(OTHER_PORTS.contains(&port("/srv/memory")));
        assert_eq!(port("/srv/memory"), port("/srv/memory"));
        assert_ne!(port("/srv/memory"), port("/srv/memory-2"));
    }
}
