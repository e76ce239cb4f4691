//! Getting a token, and making the old one void.

use std::time::Instant;

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::Api;
use super::call::Params;
use super::feed;
use super::problem::Problem;
use super::route::Nothing;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    /// From the link that `claude-mem open` makes.
    secret: String,
    /// A page of the feed to send along, asked for as `/api/feed` is.
    feed: Option<feed::Which>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Token {
    token: String,
    /// Null if none was asked for, or it cannot be had: asked for by itself, it says why.
    feed: Option<feed::Feed>,
}

/// A page that is opened wants to show something: it need not ask twice.
pub(super) fn enter(api: &Api, params: &Params, link: Link) -> Result<Token, Problem> {
    let Some(token) = api.worker.keys.enter(&link.secret, Instant::now())? else {
        return Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "this link has been used, or is too old",
            "`claude-mem open` makes a new one.",
        ));
    };
    // What led here holds a secret that is worth nothing any more.
    let page = api.dir().opening(&link.secret);
    if let Err(error) = std::fs::remove_file(page)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        api.worker.trouble("a page with a used link stays", &error);
    }
    let feed = link.feed.map(|which| feed::feed(api, params, which));
    Ok(Token {
        token,
        feed: feed.and_then(Result::ok),
    })
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
