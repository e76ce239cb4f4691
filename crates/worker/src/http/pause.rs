//! Routes that pause and resume capture.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::problem::Problem;
use super::route::NoParams;
use claude_mem_capture::ipc::spawn;
use claude_mem_core::clock::Millis;
use claude_mem_core::pause as file;

/// The longest pause, a year. A longer one should be open-ended.
const MINUTES_MAX: u32 = 366 * 24 * 60;

/// Length of a pause.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "For")]
pub(super) struct PauseRequest {
    /// Pauses until resumed if omitted.
    minutes: Option<u32>,
}

/// Whether capture is paused, and until when.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Paused")]
pub(super) struct PauseResponse {
    paused: bool,
    until: Option<Millis>,
}

/// Handles `POST /api/pause`.
pub(super) fn pause(api: &ApiState, _: &PathParams, asked: PauseRequest) -> Result<PauseResponse, Problem> {
    let now = api.now();
    if asked.minutes.is_some_and(|minutes| !(1..=MINUTES_MAX).contains(&minutes)) {
        let hint = format!("Use 1 to {MINUTES_MAX}, or omit it to pause until resumed.");
        return Err(Problem::unprocessable("minutes is out of range", hint));
    }
    let until = asked.minutes.map(|minutes| now.plus_seconds(i64::from(minutes) * 60));
    let since = Some(now);
    file::begin(&api.dir().paused(), file::CapturePause { since, until })?;
    api.notify_change();
    Ok(PauseResponse { paused: true, until })
}

/// Restarts the worker.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RestartRequest {
    /// Must be true: requests and streams end with the worker.
    confirm: bool,
}

/// Whether a restart was begun.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RestartResponse {
    restarting: bool,
    /// The port of the new worker, if the settings name another one than this worker listens on.
    #[serde(rename = "movesTo")]
    moves_to: Option<u16>,
}

/// Handles `POST /api/worker/restart`.
pub(super) fn restart(
    api: &ApiState,
    _: &PathParams,
    asked: RestartRequest,
) -> Result<RestartResponse, Problem> {
    if !asked.confirm {
        return Err(Problem::unprocessable("the restart is not confirmed", "Send {\"confirm\": true}."));
    }
    let port = api.settings().settings.port;
    spawn::restart_detached(&std::env::current_exe()?, api.dir())?;
    Ok(RestartResponse {
        restarting: true,
        moves_to: Some(port).filter(|port| *port != 0 && *port != api.port),
    })
}

/// Handles `POST /api/resume`.
pub(super) fn resume(api: &ApiState, _: &PathParams, _: NoParams) -> Result<PauseResponse, Problem> {
    file::end(&api.dir().paused())?;
    api.notify_change();
    Ok(PauseResponse { paused: false, until: None })
}
