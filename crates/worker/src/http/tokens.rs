//! Routes that exchange a link for a page token and rotate the install token.

use std::time::Instant;

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::problem::Problem;
use super::route::NoParams;
use super::turns;
use claude_mem_core::paths::remove_if_exists;

/// Exchanges a link for a token.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Link")]
pub(super) struct PageTokenRequest {
    /// The secret in the link that `claude-mem open` creates.
    secret: String,
    /// Also return a page of turns, with the parameters of `/api/turns`.
    turns: Option<turns::TurnListParams>,
}

/// A page token, with the first page of turns if it was requested.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Token")]
pub(super) struct PageTokenResponse {
    token: String,
    /// Null if it was not requested or failed; `/api/turns` then returns the error.
    turns: Option<turns::TurnPage>,
}

/// Exchanges a link for a page token. The first turns come along to save the page a round trip.
pub(super) fn exchange_link(
    api: &ApiState,
    params: &PathParams,
    link: PageTokenRequest,
) -> Result<PageTokenResponse, Problem> {
    let Some(token) = api.worker.keys.redeem_link(&link.secret, Instant::now())? else {
        return Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "this link was already used or has expired",
            "Run `claude-mem open` for a new one.",
        ));
    };
    // The file that opened the browser holds the secret, which is void now.
    let page = api.dir().open_page(&link.secret);
    if let Err(error) = remove_if_exists(&page) {
        api.worker.warn("failed to remove the file of a used link", &error);
    }
    let turns = link.turns.map(|which| turns::list(api, params, which));
    Ok(PageTokenResponse { token, turns: turns.and_then(Result::ok) })
}

/// The path of the new token. The token itself is not returned: only readers of the file get it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Rotated")]
pub(super) struct RotateResponse {
    rotated: bool,
    file: String,
}

/// Handles `POST /api/token/rotate`.
pub(super) fn rotate(api: &ApiState, _: &PathParams, _: NoParams) -> Result<RotateResponse, Problem> {
    api.worker.keys.rotate()?;
    Ok(RotateResponse { rotated: true, file: api.dir().token().display().to_string() })
}
