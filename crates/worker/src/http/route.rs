//! [`Route`], one entry of the route table, and the constructors that make one from a typed handler.
//!
//! [`get`], [`post`], [`change`] and [`delete`] erase a handler's types: the [`RouteAction`] keeps
//! a function from request to JSON bytes, and the schemas of query, body and response are kept
//! beside it for the OpenAPI document.

use axum::http::StatusCode;
use axum::routing::MethodFilter;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::api::ApiState;
use super::guard::RouteAccess;
use super::handler_request::{HandlerRequest, PathParams};
use super::problem::Problem;
use claude_mem_core::limits::HTTP_BODY_BYTES_MAX;

/// The HTTP methods that routes use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RouteMethod {
    Get,
    Post,
    Patch,
    Delete,
}

impl RouteMethod {
    /// The method as axum's filter.
    pub(super) const fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Patch => MethodFilter::PATCH,
            Self::Delete => MethodFilter::DELETE,
        }
    }

    /// The method in lower case, as OpenAPI spells it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

/// A type-erased handler that returns a status and a JSON body.
type HandlerFn =
    Box<dyn Fn(&ApiState, &HandlerRequest) -> Result<(StatusCode, Vec<u8>), Problem> + Send + Sync>;
/// Generates the schema of a handler's query, body or response.
type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// The handler of a route.
pub(super) enum RouteAction {
    Page,
    Asset,
    Stream,
    Handler(HandlerFn),
}

/// One route: how it is called, who may call it, and what answers it.
pub(super) struct Route {
    pub(super) method: RouteMethod,
    pub(super) path: &'static str,
    pub(super) access: RouteAccess,
    pub(super) summary: &'static str,
    pub(super) body_bytes_max: usize,
    /// Whether it runs a search: concurrent searches have a limit of their own.
    pub(super) is_search: bool,
    pub(super) query: Option<SchemaFn>,
    pub(super) body: Option<SchemaFn>,
    /// `None` if the response is not JSON.
    pub(super) response: Option<SchemaFn>,
    pub(super) action: RouteAction,
}

/// No parameters are accepted.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Nothing")]
pub(super) struct NoParams {}

impl Route {
    /// A route that requires a token and accepts bodies of the usual size.
    pub(super) const fn new(
        method: RouteMethod,
        path: &'static str,
        summary: &'static str,
        action: RouteAction,
    ) -> Self {
        Self {
            method,
            path,
            access: RouteAccess::Token,
            summary,
            body_bytes_max: HTTP_BODY_BYTES_MAX,
            is_search: false,
            query: None,
            body: None,
            response: None,
            action,
        }
    }

    /// Allows navigation from other sites, for the viewer page.
    pub(super) fn page_access(mut self) -> Self {
        self.access = RouteAccess::Page;
        self
    }

    /// Requires no token.
    pub(super) fn open_access(mut self) -> Self {
        self.access = RouteAccess::Open;
        self
    }

    /// Whether this is a health check, which needs no token and reports only that the worker runs.
    pub(super) fn is_health_check(&self) -> bool {
        self.access == RouteAccess::Open
            && self.method == RouteMethod::Get
            && matches!(self.action, RouteAction::Handler(_))
    }

    /// Counts the route's requests against the limit of concurrent searches.
    pub(super) fn with_search_limit(mut self) -> Self {
        self.is_search = true;
        self
    }

    /// Accepts bodies of up to this many bytes.
    pub(super) fn with_body_limit(mut self, bytes: usize) -> Self {
        self.body_bytes_max = bytes;
        self
    }
}

/// A GET route: parameters come from the query string.
pub(super) fn get<Q, A>(
    path: &'static str,
    about: &'static str,
    run: fn(&ApiState, &PathParams, Q) -> Result<A, Problem>,
) -> Route
where
    Q: DeserializeOwned + JsonSchema + 'static,
    A: Serialize + JsonSchema + 'static,
{
    let act: HandlerFn = Box::new(move |api, call| json_body(&run(api, &call.params, call.query()?)?));
    Route {
        query: Some(|generator| Q::json_schema(generator)),
        response: Some(SchemaGenerator::subschema_for::<A>),
        ..Route::new(RouteMethod::Get, path, about, RouteAction::Handler(act))
    }
}

/// A GET route whose status code depends on the response.
pub(super) fn get_with_status<Q, A>(
    path: &'static str,
    about: &'static str,
    run: fn(&ApiState, &PathParams, Q) -> Result<A, Problem>,
    status: fn(&A) -> StatusCode,
) -> Route
where
    Q: DeserializeOwned + JsonSchema + 'static,
    A: Serialize + JsonSchema + 'static,
{
    let act: HandlerFn = Box::new(move |api, call| {
        let answer = run(api, &call.params, call.query()?)?;
        let (_, body) = json_body(&answer)?;
        Ok((status(&answer), body))
    });
    Route { action: RouteAction::Handler(act), ..get(path, about, run) }
}

/// A route that changes state: parameters come in the JSON body.
pub(super) fn change<B, A>(
    method: RouteMethod,
    path: &'static str,
    about: &'static str,
    run: fn(&ApiState, &PathParams, B) -> Result<A, Problem>,
) -> Route
where
    B: DeserializeOwned + JsonSchema + 'static,
    A: Serialize + JsonSchema + 'static,
{
    let act: HandlerFn = Box::new(move |api, call| json_body(&run(api, &call.params, call.body()?)?));
    let takes_body = method != RouteMethod::Delete;
    Route {
        body: takes_body.then_some(SchemaGenerator::subschema_for::<B>),
        response: Some(SchemaGenerator::subschema_for::<A>),
        ..Route::new(method, path, about, RouteAction::Handler(act))
    }
}

/// A POST route.
pub(super) fn post<B, A>(
    path: &'static str,
    about: &'static str,
    run: fn(&ApiState, &PathParams, B) -> Result<A, Problem>,
) -> Route
where
    B: DeserializeOwned + JsonSchema + 'static,
    A: Serialize + JsonSchema + 'static,
{
    change(RouteMethod::Post, path, about, run)
}

/// A DELETE route, which takes no body.
pub(super) fn delete<A>(
    path: &'static str,
    about: &'static str,
    run: fn(&ApiState, &PathParams, NoParams) -> Result<A, Problem>,
) -> Route
where
    A: Serialize + JsonSchema + 'static,
{
    change(RouteMethod::Delete, path, about, run)
}

fn json_body(answer: &impl Serialize) -> Result<(StatusCode, Vec<u8>), Problem> {
    let body = serde_json::to_vec(answer).map_err(Problem::internal)?;
    Ok((StatusCode::OK, body))
}
