//! One request, from its head to its answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, Query, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use tokio::sync::{AcquireError, OwnedSemaphorePermit};

use super::api::Api;
use super::door::{Busy, Connection};
use super::guard::{self, Access};
use super::problem::Problem;
use super::route::{Act, Route};
use super::{page, stream};
use crate::limits::{HTTP_BODY_BYTES_MAX, HTTP_BODY_SECONDS_MAX};

/// What a handler is given.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) params: Params,
    pub(super) uri: Uri,
    pub(super) body: Bytes,
}

/// The parts of the path that stand for something.
#[derive(Clone, Debug, Default)]
pub(super) struct Params(Vec<(String, String)>);

impl Params {
    pub(super) fn of(raw: &RawPathParams) -> Self {
        let parts = raw.iter();
        let parts = parts.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Self(parts.collect())
    }

    pub(super) fn text(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value)
    }

    /// A row's number. What is no number is no row.
    pub(super) fn id(&self) -> Result<i64, Problem> {
        let text = self.text("id");
        text.parse()
            .map_err(|_| Problem::not_there(format!("{text:?}")))
    }
}

impl Call {
    pub(super) fn query<Q: DeserializeOwned>(&self) -> Result<Q, Problem> {
        let Query(query) = Query::try_from_uri(&self.uri).map_err(|e| {
            Problem::bad(
                e.body_text(),
                "GET /api/openapi.json tells what is understood.",
            )
        })?;
        Ok(query)
    }

    /// A body that says nothing asks for the usual.
    pub(super) fn body<B: DeserializeOwned>(&self) -> Result<B, Problem> {
        let bytes: &[u8] = if self.body.is_empty() {
            b"{}"
        } else {
            &self.body
        };
        serde_json::from_slice(bytes).map_err(|e| {
            let hint = "GET /api/openapi.json tells what is understood.";
            if e.is_data() {
                Problem::unfit(format!("the body does not fit: {e}"), hint)
            } else {
                Problem::bad(format!("the body is not JSON: {e}"), hint)
            }
        })
    }
}

/// Answers a request to a route of the table.
pub(super) async fn serve(
    api: Arc<Api>,
    route: Arc<Route>,
    params: Option<Params>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let _heard = heard(&head);
    let let_in = let_in(&api, &head, route.access).inspect(|()| {
        // Whoever only asks whether we live does not keep us alive.
        if !route.is_for_monitors() {
            api.worker.presence.touch(Instant::now());
        }
    });
    let answer = match (let_in, params) {
        (Err(problem), _) => problem.into_response(),
        (Ok(()), Some(params)) => act(&api, &route, params, &head, body).await,
        // Bytes that are no text name nothing.
        (Ok(()), None) => Problem::not_there("this path").into_response(),
    };
    guarded(answer)
}

/// Answers what no route is for. Strangers are not even told that.
pub(super) fn serve_nothing(api: &Api, request: Request, status: StatusCode) -> Response {
    let (head, _) = request.into_parts();
    let _heard = heard(&head);
    let problem = match let_in(api, &head, Access::Token) {
        Err(problem) => problem,
        Ok(()) if status == StatusCode::METHOD_NOT_ALLOWED => Problem::new(
            status,
            format!("{} is not possible here", head.method),
            "GET /api/openapi.json lists what is.",
        ),
        Ok(()) => Problem::new(
            status,
            "there is nothing here",
            "GET /api/openapi.json lists what is.",
        ),
    };
    guarded(problem.into_response())
}

fn let_in(api: &Api, head: &Parts, access: Access) -> Result<(), Problem> {
    guard::check(head, access, api.port, &api.worker.keys)
}

/// A whole head has come: the connection's clock stands still while it is answered.
fn heard(head: &Parts) -> Option<Busy> {
    let connection = head.extensions.get::<ConnectInfo<Connection>>()?;
    Some(connection.0.begin())
}

async fn act(
    api: &Arc<Api>,
    route: &Arc<Route>,
    params: Params,
    head: &Parts,
    body: Body,
) -> Response {
    match &route.act {
        Act::Page => page::index(&head.headers),
        Act::Asset => page::asset(params.text("version"), params.text("file"), &head.headers),
        Act::Stream => stream::answer(api, &head.headers).await,
        Act::Run(_) => {
            // Before it is read: there is room for few of them.
            let Ok(room) = room(api, route, head).await else {
                return Problem::ours("the worker is ending").into_response();
            };
            let call = match read(body, route.body_bytes_max).await {
                Ok(body) => Call {
                    params,
                    uri: head.uri.clone(),
                    body,
                },
                Err(problem) => return problem.into_response(),
            };
            run(api, route, call, room).await
        }
    }
}

async fn read(body: Body, bytes_max: usize) -> Result<Bytes, Problem> {
    let patience = Duration::from_secs(HTTP_BODY_SECONDS_MAX);
    match tokio::time::timeout(patience, to_bytes(body, bytes_max)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_too_long(&error) => Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the body is too long",
            format!("At most {bytes_max} bytes are read."),
        )),
        Ok(Err(_)) => Err(Problem::bad("the body broke off", "Send all of it.")),
        Err(_) => Err(Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "the body took too long",
            "Send it again.",
        )),
    }
}

/// The reader's error has no name that could be asked for; what it says has not changed in years,
/// and a test would notice.
fn is_too_long(error: &axum::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.to_string() == "length limit exceeded" {
            return true;
        }
        cause = error.source();
    }
    false
}

/// A place for a body that may be long. One whose length is told to be ordinary needs none.
async fn room(
    api: &Api,
    route: &Route,
    head: &Parts,
) -> Result<Option<OwnedSemaphorePermit>, AcquireError> {
    let told = head.headers.get(header::CONTENT_LENGTH);
    let told = told.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let may_be = told.unwrap_or(route.body_bytes_max);
    if may_be.min(route.body_bytes_max) <= HTTP_BODY_BYTES_MAX {
        return Ok(None);
    }
    Ok(Some(Arc::clone(&api.long_bodies).acquire_owned().await?))
}

/// Runs a handler where waiting for the disk is allowed.
async fn run(
    api: &Arc<Api>,
    route: &Arc<Route>,
    call: Call,
    room: Option<OwnedSemaphorePermit>,
) -> Response {
    let Ok(place) = place(api, route).await else {
        return Problem::ours("the worker is ending").into_response();
    };
    let (owner, running) = (Arc::clone(api), Arc::clone(route));
    let done = tokio::task::spawn_blocking(move || {
        let done = match &running.act {
            Act::Run(run) => run(&owner, &call),
            Act::Page | Act::Asset | Act::Stream => Err(Problem::ours("this is not run")),
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
                api.worker.trouble("a request failed", &problem.error);
            }
            problem.into_response()
        }
        Err(error) => {
            api.worker.trouble("a request broke off", &error);
            Problem::ours("the request broke off").into_response()
        }
    }
}

/// A search first waits until it may be one of the few, and takes up no place meanwhile.
async fn place(
    api: &Api,
    route: &Route,
) -> Result<(Option<OwnedSemaphorePermit>, OwnedSemaphorePermit), AcquireError> {
    let search = if route.searches {
        Some(Arc::clone(&api.searches).acquire_owned().await?)
    } else {
        None
    };
    Ok((search, Arc::clone(&api.places).acquire_owned().await?))
}

/// Headers of every answer: it is what it says it is, nobody else may embed, keep or read it.
fn guarded(mut answer: Response) -> Response {
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
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(none));
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    answer
}
