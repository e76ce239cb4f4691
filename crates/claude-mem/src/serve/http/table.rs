//! Every route, once: how it is called, who may call it, what goes in and what comes out.
//!
//! The router, the tests of the guard and the OpenAPI document are made from it. To add a route,
//! write its handler in the file of its noun and add a line here.

use axum::routing::MethodFilter;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::api::Api;
use super::call::{Call, Params};
use super::guard::Access;
use super::problem::Problem;
use super::{
    capture, context, feed, health, ledger, lists, memory, observations, openapi, pause, projects,
    queue, search, sessions, settings, stats, tokens,
};
use crate::limits::{HOOK_INPUT_BYTES_MAX, HTTP_BODY_BYTES_MAX};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Post,
    Patch,
    Delete,
}

impl Method {
    pub(super) const fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Patch => MethodFilter::PATCH,
            Self::Delete => MethodFilter::DELETE,
        }
    }

    /// As the OpenAPI document spells it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

/// A handler with its types taken off: JSON comes out.
type Run = Box<dyn Fn(&Api, &Call) -> Result<Vec<u8>, Problem> + Send + Sync>;
type Describe = fn(&mut SchemaGenerator) -> Schema;

pub(super) enum Act {
    Page,
    Asset,
    Stream,
    Run(Run),
}

pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) access: Access,
    pub(super) about: &'static str,
    pub(super) body_bytes_max: usize,
    pub(super) query: Option<Describe>,
    pub(super) body: Option<Describe>,
    /// `None`: not JSON.
    pub(super) answer: Option<Describe>,
    pub(super) act: Act,
}

/// Takes no parameters.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize, JsonSchema)]
pub(super) struct Nothing {}

impl Route {
    const fn of(method: Method, path: &'static str, about: &'static str, act: Act) -> Self {
        Self {
            method,
            path,
            access: Access::Token,
            about,
            body_bytes_max: HTTP_BODY_BYTES_MAX,
            query: None,
            body: None,
            answer: None,
            act,
        }
    }

    fn open(mut self) -> Self {
        self.access = Access::Open;
        self
    }

    fn up_to(mut self, bytes: usize) -> Self {
        self.body_bytes_max = bytes;
        self
    }
}

/// A look: parameters come from the query.
fn get<Q, A>(
    path: &'static str,
    about: &'static str,
    run: fn(&Api, &Params, Q) -> Result<A, Problem>,
) -> Route
where
    Q: DeserializeOwned + JsonSchema + 'static,
    A: Serialize + JsonSchema + 'static,
{
    let act: Run = Box::new(move |api, call| json(&run(api, &call.params, call.query()?)?));
    Route {
        query: Some(|generator| Q::json_schema(generator)),
        answer: Some(SchemaGenerator::subschema_for::<A>),
        ..Route::of(Method::Get, path, about, Act::Run(act))
    }
}

/// A change: parameters come in the body.
fn change<B, A>(
    method: Method,
    path: &'static str,
    about: &'static str,
    run: fn(&Api, &Params, B) -> Result<A, Problem>,
) -> Route
where
    B: DeserializeOwned + JsonSchema + 'static,
    A: Serialize + JsonSchema + 'static,
{
    let act: Run = Box::new(move |api, call| json(&run(api, &call.params, call.body()?)?));
    let takes_body = method != Method::Delete;
    Route {
        body: takes_body.then_some(SchemaGenerator::subschema_for::<B>),
        answer: Some(SchemaGenerator::subschema_for::<A>),
        ..Route::of(method, path, about, Act::Run(act))
    }
}

fn post<B, A>(
    path: &'static str,
    about: &'static str,
    run: fn(&Api, &Params, B) -> Result<A, Problem>,
) -> Route
where
    B: DeserializeOwned + JsonSchema + 'static,
    A: Serialize + JsonSchema + 'static,
{
    change(Method::Post, path, about, run)
}

fn delete<A>(
    path: &'static str,
    about: &'static str,
    run: fn(&Api, &Params, Nothing) -> Result<A, Problem>,
) -> Route
where
    A: Serialize + JsonSchema + 'static,
{
    change(Method::Delete, path, about, run)
}

fn json(answer: &impl Serialize) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(answer).map_err(Problem::ours)
}

/// The table.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = vec![
        Route::of(Method::Get, "/", "The viewer", Act::Page).open(),
        Route::of(
            Method::Get,
            "/assets/{file}",
            "The viewer's files",
            Act::Asset,
        )
        .open(),
        Route::of(
            Method::Get,
            "/stream",
            "What happens, as server-sent events; resumes after Last-Event-ID",
            Act::Stream,
        ),
        get("/health", "Whether the worker answers", health::health).open(),
        get("/api/health", "Whether the worker answers", health::health),
        get(
            "/api/readiness",
            "Whether memories are made as they are set up to be",
            health::readiness,
        ),
        get(
            "/api/version",
            "Versions of the program and of the database",
            health::version,
        ),
        get("/api/openapi.json", "This document", openapi::document),
        post(
            "/api/page/token",
            "Trades the secret of a link for a page's token, once",
            tokens::enter,
        )
        .open(),
        post(
            "/api/token/rotate",
            "A new install token; the old one is void at once",
            tokens::rotate,
        ),
    ];
    routes.extend(memories());
    routes.extend(working());
    routes
}

/// What is remembered.
fn memories() -> Vec<Route> {
    vec![
        get(
            "/api/feed",
            "Everything, newest first, page by page",
            feed::feed,
        ),
        get(
            "/api/search",
            "What fits a question, best first",
            search::search,
        ),
        get(
            "/api/timeline",
            "What happened around a row",
            search::timeline,
        ),
        get(
            "/api/observations",
            "Observations, newest first",
            observations::list,
        ),
        get(
            "/api/observations/{id}",
            "One observation",
            observations::one,
        ),
        change(
            Method::Patch,
            "/api/observations/{id}",
            "Corrects an observation",
            observations::edit,
        ),
        delete(
            "/api/observations/{id}",
            "Forgets an observation",
            observations::forget,
        ),
        post(
            "/api/observations/batch",
            "Observations by their ids",
            observations::batch,
        ),
        get(
            "/api/summaries",
            "Summaries, newest first",
            lists::summaries,
        ),
        get("/api/summaries/{id}", "One summary", lists::summary),
        delete(
            "/api/summaries/{id}",
            "Forgets a summary",
            lists::forget_summary,
        ),
        get("/api/prompts", "Prompts, newest first", lists::prompts),
        get("/api/prompts/{id}", "One prompt", lists::prompt),
        delete(
            "/api/prompts/{id}",
            "Forgets a prompt",
            lists::forget_prompt,
        ),
        get(
            "/api/messages",
            "The agent's last words of each turn, newest first",
            lists::messages,
        ),
        get("/api/messages/{id}", "One message", lists::message),
        delete(
            "/api/messages/{id}",
            "Forgets a message",
            lists::forget_message,
        ),
        post("/api/memory/save", "Keeps something by hand", memory::save),
        post(
            "/api/memory/{kind}/{id}/restore",
            "Brings back what was forgotten",
            memory::restore,
        ),
        post(
            "/api/feedback",
            "Says what a memory was worth",
            memory::feedback,
        ),
        get(
            "/api/projects",
            "Projects, the most recent first",
            projects::list,
        ),
        get("/api/sessions", "Sessions, newest first", sessions::list),
        get(
            "/api/sessions/{id}",
            "One session: what was said, kept, told and spent",
            sessions::one,
        ),
        get(
            "/api/context/preview",
            "What the next session would be told, and why",
            context::preview,
        ),
        post(
            "/api/context/inject",
            "What a session that starts now is told",
            context::inject,
        ),
        post(
            "/api/context/semantic",
            "What a prompt brings to mind",
            context::semantic,
        ),
    ]
}

/// How memories come to be, and what it costs.
fn working() -> Vec<Route> {
    let hook = |path, about, run| post(path, about, run).up_to(HOOK_INPUT_BYTES_MAX);
    vec![
        get("/api/stats", "Figures for the dashboard", stats::stats),
        get(
            "/api/processing-status",
            "What is being worked on",
            queue::status,
        ),
        get(
            "/api/queue",
            "Events on their way, newest first; never their content",
            queue::list,
        ),
        post(
            "/api/queue/{id}/retry",
            "A dead event waits again",
            queue::retry,
        ),
        delete(
            "/api/queue/{id}",
            "Drops a dead event for good",
            queue::drop_dead,
        ),
        get(
            "/api/spend",
            "Calls of models and what they cost, newest first",
            ledger::spend,
        ),
        get(
            "/api/ledger",
            "What was shown, of one row or to one session",
            ledger::ledger,
        ),
        get(
            "/api/settings",
            "Every setting; secrets are never returned",
            settings::list,
        ),
        change(
            Method::Patch,
            "/api/settings",
            "Changes settings; null goes back to the default",
            settings::edit,
        ),
        post(
            "/api/pause",
            "Keeps nothing until resumed, or for so many minutes",
            pause::pause,
        ),
        post("/api/resume", "Keeps things again", pause::resume),
        hook(
            "/api/sessions/init",
            "A session starts, or a prompt: what its hook sends",
            capture::init,
        ),
        hook(
            "/api/sessions/observations",
            "A tool was used: what its hook sends",
            capture::observation,
        ),
        hook(
            "/api/sessions/summarize",
            "A turn ends: what its hook sends",
            capture::summarize,
        ),
        hook(
            "/api/sessions/complete",
            "A session ends: what its hook sends",
            capture::complete,
        ),
    ]
}
