//! Getting a token, and making the old one void.

use std::time::Instant;

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::Api;
use super::call::Params;
use super::problem::Problem;
use super::route::Nothing;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Link {
    /// From the link that `claude-mem open` makes.
    secret: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Token {
    token: String,
}

pub(super) fn enter(api: &Api, _: &Params, link: Link) -> Result<Token, Problem> {
    match api.worker.keys.enter(&link.secret, Instant::now())? {
        Some(token) => Ok(Token { token }),
        None => Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "this link has been used, or is too old",
            "`claude-mem open` makes a new one.",
        )),
    }
}

/// Where the new one lies. It is not returned: whoever may read the file may have it.
#[derive(Serialize, JsonSchema)]
pub(super) struct Rotated {
    rotated: bool,
    file: String,
}

pub(super) fn rotate(api: &Api, _: &Params, _: Nothing) -> Result<Rotated, Problem> {
    api.worker.keys.rotate()?;
    Ok(Rotated {
        rotated: true,
        file: api.dir().token().display().to_string(),
    })
}
