//! Whether the worker is there and well.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::api::Api;
use super::call::Params;
use super::problem::Problem;
use super::route::Nothing;
use crate::store::SCHEMA_VERSION;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Health {
    status: &'static str,
    version: &'static str,
    uptime_seconds: u64,
    pid: u32,
}

#[allow(clippy::unnecessary_wraps, reason = "the shape of a handler")]
pub(super) fn health(api: &Api, _: &Params, _: Nothing) -> Result<Health, Problem> {
    Ok(Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
        uptime_seconds: api.started.elapsed().as_secs(),
        pid: std::process::id(),
    })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Readiness {
    ready: bool,
    problems: Vec<String>,
    /// As every answer that is no success says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

/// For those who look at the status alone.
pub(super) fn is_ready(found: &Readiness) -> StatusCode {
    if found.ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    }
}

#[allow(clippy::unnecessary_wraps, reason = "the shape of a handler")]
pub(super) fn readiness(api: &Api, _: &Params, _: Nothing) -> Result<Readiness, Problem> {
    let mut problems: Vec<String> = api.worker.report().trouble.into_iter().collect();
    if let Err(problem) = api.view(|reads| Ok(reads.queue_counts()?)) {
        problems.push(problem.error);
    }
    let ready = problems.is_empty();
    Ok(Readiness {
        ready,
        problems,
        error: (!ready).then_some("memories are not made as they should be"),
        hint: (!ready).then_some("`claude-mem doctor` says more."),
    })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Version {
    version: &'static str,
    schema: u32,
}

#[allow(clippy::unnecessary_wraps, reason = "the shape of a handler")]
pub(super) fn version(_: &Api, _: &Params, _: Nothing) -> Result<Version, Problem> {
    Ok(Version {
        version: env!("CARGO_PKG_VERSION"),
        schema: SCHEMA_VERSION,
    })
}
