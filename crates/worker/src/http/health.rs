//! Liveness, readiness and version of the worker.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::api::ApiState;
use super::handler_request::PathParams;
use super::problem::Problem;
use super::route::NoParams;
use claude_mem_setup::notices;
use claude_mem_store::SCHEMA_VERSION;

/// Liveness of the worker.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Health")]
pub(super) struct HealthResponse {
    status: &'static str,
    version: &'static str,
    uptime_seconds: u64,
    pid: u32,
}

/// Handles `GET /health` and `GET /api/health`.
#[allow(clippy::unnecessary_wraps, reason = "handlers share one signature")]
pub(super) fn health(api: &ApiState, _: &PathParams, _: NoParams) -> Result<HealthResponse, Problem> {
    Ok(HealthResponse {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
        uptime_seconds: api.started.elapsed().as_secs(),
        pid: std::process::id(),
    })
}

/// Whether memories are being made as configured, and what prevents it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Readiness")]
pub(super) struct ReadinessResponse {
    ready: bool,
    problems: Vec<String>,
    /// The fields of every error response.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

/// The status code of a readiness check, for clients that do not read the body.
pub(super) fn readiness_status(found: &ReadinessResponse) -> StatusCode {
    if found.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}

/// Handles `GET /api/readiness`.
#[allow(clippy::unnecessary_wraps, reason = "handlers share one signature")]
pub(super) fn readiness(api: &ApiState, _: &PathParams, _: NoParams) -> Result<ReadinessResponse, Problem> {
    let mut problems: Vec<String> = api.worker.status().trouble.into_iter().collect();
    let (settings, now) = (api.settings().settings, api.now());
    match api.view(|reads| Ok(notices::model_notice(reads, &settings, now)?)) {
        Ok(notice) => problems.extend(notice.map(|notice| notice.what)),
        Err(problem) => problems.push(problem.error),
    }
    let ready = problems.is_empty();
    Ok(ReadinessResponse {
        ready,
        problems,
        error: (!ready).then_some("memories are not being made as configured"),
        hint: (!ready).then_some("Run `claude-mem doctor`."),
    })
}

/// Version of the program and of the database schema.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Version")]
pub(super) struct VersionResponse {
    version: &'static str,
    schema: u32,
}

/// Handles `GET /api/version`.
#[allow(clippy::unnecessary_wraps, reason = "handlers share one signature")]
pub(super) fn version(_: &ApiState, _: &PathParams, _: NoParams) -> Result<VersionResponse, Problem> {
    Ok(VersionResponse { version: env!("CARGO_PKG_VERSION"), schema: SCHEMA_VERSION })
}
