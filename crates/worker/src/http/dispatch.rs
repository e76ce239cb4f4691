//! Handling of one request: guard, body, handler, security headers.
//!
//! [`handle_route`] serves a route of the table and [`handle_unmatched`] everything else; both ask
//! the guard first. Handlers run on blocking threads, so the number that run at once is bounded by
//! semaphores of [`ApiState`]. Every response leaves through [`with_security_headers`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::LengthLimitError;
use tokio::sync::{AcquireError, OwnedSemaphorePermit};

use super::api::ApiState;
use super::assets;
use super::guard::{self, RouteAccess};
use super::handler_request::{HandlerRequest, PathParams};
use super::problem::Problem;
use super::route::{Route, RouteAction};
use super::stream;
use claude_mem_core::limits::HTTP_BODY_BYTES_MAX;

/// Seconds within which a request body must arrive.
const HTTP_BODY_SECONDS_MAX: u64 = 20;

/// Handles a request that matches a route of the table.
pub(super) async fn handle_route(
    api: Arc<ApiState>,
    route: Arc<Route>,
    params: Option<PathParams>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let let_in = authorize(&api, &head, route.access).inspect(|()| {
        // Health checks do not reset the idle timer.
        if !route.is_health_check() {
            api.worker.idle.touch(Instant::now());
        }
    });
    let answer = match (let_in, params) {
        (Err(problem), _) => problem.into_response(),
        (Ok(()), Some(params)) => dispatch(&api, &route, params, &head, body).await,
        // A path that is not UTF-8 cannot name anything.
        (Ok(()), None) => Problem::not_found("this path").into_response(),
    };
    with_security_headers(answer)
}

/// Handles a request that matches no route. Without a token the client learns not even that.
pub(super) fn handle_unmatched(api: &ApiState, request: Request, status: StatusCode) -> Response {
    let (head, _) = request.into_parts();
    let problem = match authorize(api, &head, RouteAccess::Token) {
        Err(problem) => problem,
        Ok(()) if status == StatusCode::METHOD_NOT_ALLOWED => Problem::new(
            status,
            format!("method {} is not allowed here", head.method),
            "GET /api/openapi.json lists the routes.",
        ),
        Ok(()) => Problem::new(status, "no such route", "GET /api/openapi.json lists the routes."),
    };
    with_security_headers(problem.into_response())
}

/// Asks the guard.
fn authorize(api: &ApiState, head: &Parts, access: RouteAccess) -> Result<(), Problem> {
    guard::check(head, access, api.port, &api.worker.keys)
}

/// Answers a request that the guard has let in.
async fn dispatch(
    api: &Arc<ApiState>,
    route: &Arc<Route>,
    params: PathParams,
    head: &Parts,
    body: Body,
) -> Response {
    match &route.action {
        RouteAction::Page => assets::index(&head.headers),
        RouteAction::Asset => assets::asset(params.text("version"), params.text("file"), &head.headers),
        RouteAction::Stream => stream::open_stream(api, &head.headers).await,
        RouteAction::Handler(_) => {
            // Acquired before the body is read: only a few long bodies fit in memory.
            let Ok(room) = acquire_body_permit(api, route, head).await else {
                return Problem::internal("the worker is shutting down").into_response();
            };
            let call = match read_body(body, route.body_bytes_max).await {
                Ok(body) => HandlerRequest { params, uri: head.uri.clone(), body },
                Err(problem) => return problem.into_response(),
            };
            run_handler(api, route, call, room).await
        }
    }
}

/// Reads a body within its size and time limits.
async fn read_body(body: Body, bytes_max: usize) -> Result<Bytes, Problem> {
    let patience = Duration::from_secs(HTTP_BODY_SECONDS_MAX);
    match tokio::time::timeout(patience, to_bytes(body, bytes_max)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_too_long(&error) => Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the body is too large",
            format!("The limit is {bytes_max} bytes."),
        )),
        Ok(Err(_)) => Err(Problem::bad_request("the body is incomplete", "Send all of it.")),
        Err(_) => {
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "timed out reading the body", "Send it again."))
        }
    }
}

/// Whether reading stopped at the size limit.
fn is_too_long(error: &axum::Error) -> bool {
    std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<LengthLimitError>)
}

/// A permit for a long body. A body whose `Content-Length` is within the usual limit needs none.
async fn acquire_body_permit(
    api: &ApiState,
    route: &Route,
    head: &Parts,
) -> Result<Option<OwnedSemaphorePermit>, AcquireError> {
    let header = head.headers.get(header::CONTENT_LENGTH);
    let content_length = header.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let bytes_max = content_length.unwrap_or(route.body_bytes_max);
    if bytes_max.min(route.body_bytes_max) <= HTTP_BODY_BYTES_MAX {
        return Ok(None);
    }
    Ok(Some(Arc::clone(&api.long_body_slots).acquire_owned().await?))
}

/// Runs a handler on a blocking thread.
async fn run_handler(
    api: &Arc<ApiState>,
    route: &Arc<Route>,
    call: HandlerRequest,
    room: Option<OwnedSemaphorePermit>,
) -> Response {
    let Ok(place) = acquire_handler_permits(api, route).await else {
        return Problem::internal("the worker is shutting down").into_response();
    };
    let (owner, running) = (Arc::clone(api), Arc::clone(route));
    let done = tokio::task::spawn_blocking(move || {
        let done = match &running.action {
            RouteAction::Handler(run) => run(&owner, &call),
            RouteAction::Page | RouteAction::Asset | RouteAction::Stream => {
                Err(Problem::internal("this route has no handler"))
            }
        };
        drop((call, room, place));
        done
    });
    match done.await {
        Ok(Ok((status, body))) => {
            let json = HeaderValue::from_static("application/json");
            (status, [(header::CONTENT_TYPE, json)], body).into_response()
        }
        Ok(Err(problem)) => {
            if problem.status.is_server_error() {
                api.worker.warn("a request failed", &problem.error);
            }
            problem.into_response()
        }
        Err(error) => {
            api.worker.warn("a request handler did not finish", &error);
            Problem::internal("the request handler did not finish").into_response()
        }
    }
}

/// Permits to run a handler. A search waits for its own permit first, and holds no other meanwhile.
async fn acquire_handler_permits(
    api: &ApiState,
    route: &Route,
) -> Result<(Option<OwnedSemaphorePermit>, OwnedSemaphorePermit), AcquireError> {
    let search =
        if route.is_search { Some(Arc::clone(&api.search_slots).acquire_owned().await?) } else { None };
    Ok((search, Arc::clone(&api.request_slots).acquire_owned().await?))
}

/// Adds the security headers of every response: no sniffing, embedding, caching or cross-origin use.
fn with_security_headers(mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("x-frame-options", "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let none = "default-src 'none'; frame-ancestors 'none'";
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(none));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer
}
