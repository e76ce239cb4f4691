//! The listening socket, from the port it gets to its orderly end.

use std::future::ready;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request};
use axum::http::StatusCode;
use axum::routing::on;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::api::Api;
use super::call::Params;
use super::door::{Connection, Door, Patience};
use super::{call, table};
use crate::serve::worker::Worker;

/// The usual port: one per user, so that two on one machine do not meet.
const PORT: u16 = 37_700;

/// Listens on this machine alone: at the port that is asked for, else at any free one. 0 asks for
/// the usual one.
pub fn bind(port: u16) -> io::Result<(TcpListener, u16)> {
    let usual = || PORT + (rustix::process::getuid().as_raw() % 100) as u16;
    let wanted = if port == 0 { usual() } else { port };
    let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, wanted)) {
        Err(e)
            if e.kind() == io::ErrorKind::AddrInUse
                || e.kind() == io::ErrorKind::PermissionDenied =>
        {
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        }
        bound => bound?,
    };
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    end: watch::Sender<bool>,
    task: JoinHandle<io::Result<()>>,
}

impl Server {
    /// Begins to answer. Inside the worker's runtime.
    pub fn start(
        listener: TcpListener,
        worker: Arc<Worker>,
        env: fn(&str) -> Option<String>,
    ) -> io::Result<Self> {
        let port = listener.local_addr()?.port();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (end, ending) = watch::channel(false);
        let api = Arc::new(Api::new(worker, port, env, ending.clone()));
        let mut until = ending;
        let owner = Arc::clone(&api);
        let trouble = move |error: &io::Error| {
            owner.worker.trouble("connections cannot be taken", error);
        };
        let door = Door::new(listener, Patience::default(), Box::new(trouble));
        let service = router(&api).into_make_service_with_connect_info::<Connection>();
        let serving = axum::serve(door, service).with_graceful_shutdown(async move {
            // The sender is gone only together with the server.
            let _ = until.wait_for(|ending| *ending).await;
        });
        let task = tokio::spawn(async move { serving.await });
        Ok(Self { end, task })
    }

    /// Takes no more requests, ends the streams, and waits for what is under way, but not for
    /// longer than this.
    pub async fn stop(mut self, within: Duration) {
        // Nobody may listen: then it has ended already.
        let _ = self.end.send(true);
        if tokio::time::timeout(within, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

/// The table's routes, and one answer for everything else.
fn router(api: &Arc<Api>) -> Router {
    let mut router = Router::new();
    for route in table::routes() {
        let route = Arc::new(route);
        let (owner, path, method) = (Arc::clone(api), route.path, route.method);
        // A path that does not read is not axum's to answer: the guard comes first.
        let handler = move |params: Result<RawPathParams, _>, request: Request| {
            let params: Result<_, RawPathParamsRejection> = params;
            let params = params.ok().as_ref().map(Params::of);
            call::serve(Arc::clone(&owner), Arc::clone(&route), params, request)
        };
        router = router.route(path, on(method.filter(), handler));
    }
    let (nothing, not_so) = (Arc::clone(api), Arc::clone(api));
    router
        .fallback(move |request: Request| {
            ready(call::serve_nothing(
                &nothing,
                request,
                StatusCode::NOT_FOUND,
            ))
        })
        .method_not_allowed_fallback(move |request: Request| {
            let status = StatusCode::METHOD_NOT_ALLOWED;
            ready(call::serve_nothing(&not_so, request, status))
        })
}
