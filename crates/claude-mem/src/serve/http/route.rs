//! What a route is, and how a typed handler becomes one.

use axum::http::StatusCode;
use axum::routing::MethodFilter;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::api::Api;
use super::call::{Call, Params};
use super::guard::Access;
use super::problem::Problem;
use crate::limits::HTTP_BODY_BYTES_MAX;

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
type Run = Box<dyn Fn(&Api, &Call) -> Result<(StatusCode, Vec<u8>), Problem> + Send + Sync>;
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
    /// It searches: only so many do at a time.
    pub(super) searches: bool,
    pub(super) query: Option<Describe>,
    pub(super) body: Option<Describe>,
    /// `None`: not JSON.
    pub(super) answer: Option<Describe>,
    pub(super) act: Act,
}

/// Takes no parameters.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

impl Route {
    pub(super) const fn of(
        method: Method,
        path: &'static str,
        about: &'static str,
        act: Act,
    ) -> Self {
        Self {
            method,
            path,
            access: Access::Token,
            about,
            body_bytes_max: HTTP_BODY_BYTES_MAX,
            searches: false,
            query: None,
            body: None,
            answer: None,
            act,
        }
    }

    pub(super) fn visited(mut self) -> Self {
        self.access = Access::Page;
        self
    }

    pub(super) fn open(mut self) -> Self {
        self.access = Access::Open;
        self
    }

    /// It tells strangers that we live, and nothing else.
    pub(super) fn is_for_monitors(&self) -> bool {
        self.access == Access::Open && self.method == Method::Get && matches!(self.act, Act::Run(_))
    }

    pub(super) fn searching(mut self) -> Self {
        self.searches = true;
        self
    }

    pub(super) fn up_to(mut self, bytes: usize) -> Self {
        self.body_bytes_max = bytes;
        self
    }
}

/// A look: parameters come from the query.
pub(super) fn get<Q, A>(
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

/// A look whose answer says by its status too what it found.
pub(super) fn get_saying<Q, A>(
    path: &'static str,
    about: &'static str,
    run: fn(&Api, &Params, Q) -> Result<A, Problem>,
    status: fn(&A) -> StatusCode,
) -> Route
where
    Q: DeserializeOwned + JsonSchema + 'static,
    A: Serialize + JsonSchema + 'static,
{
    let act: Run = Box::new(move |api, call| {
        let answer = run(api, &call.params, call.query()?)?;
        let (_, body) = json(&answer)?;
        Ok((status(&answer), body))
    });
    Route {
        act: Act::Run(act),
        ..get(path, about, run)
    }
}

/// A change: parameters come in the body.
pub(super) fn change<B, A>(
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

pub(super) fn post<B, A>(
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

pub(super) fn delete<A>(
    path: &'static str,
    about: &'static str,
    run: fn(&Api, &Params, Nothing) -> Result<A, Problem>,
) -> Route
where
    A: Serialize + JsonSchema + 'static,
{
    change(Method::Delete, path, about, run)
}

fn json(answer: &impl Serialize) -> Result<(StatusCode, Vec<u8>), Problem> {
    let body = serde_json::to_vec(answer).map_err(Problem::ours)?;
    Ok((StatusCode::OK, body))
}
