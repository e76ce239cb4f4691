//! [`HandlerRequest`], the input of a handler: path parameters, query string and body.

use axum::body::Bytes;
use axum::extract::{Query, RawPathParams};
use axum::http::Uri;
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// The input of a handler.
#[derive(Debug)]
pub(super) struct HandlerRequest {
    pub(super) params: PathParams,
    pub(super) uri: Uri,
    pub(super) body: Bytes,
}

/// The parameters of the path, such as `{id}`.
#[derive(Clone, Debug, Default)]
pub(super) struct PathParams(Vec<(String, String)>);

impl PathParams {
    /// Copies the parameters that axum extracted.
    pub(super) fn from_raw(raw: &RawPathParams) -> Self {
        let pairs = raw.iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
        Self(pairs.collect())
    }

    /// The value of a parameter, empty if the route has none of this name.
    pub(super) fn text(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value)
    }

    /// The row id in `{id}`. A value that is not a number cannot name a row, so it is a 404.
    pub(super) fn id(&self) -> Result<i64, Problem> {
        let text = self.text("id");
        text.parse().map_err(|_| Problem::not_found(format!("{text:?}")))
    }
}

impl HandlerRequest {
    /// Parses the query string.
    pub(super) fn query<Q: DeserializeOwned>(&self) -> Result<Q, Problem> {
        let Query(query) = Query::try_from_uri(&self.uri).map_err(|e| {
            Problem::bad_request(e.body_text(), "GET /api/openapi.json describes the parameters.")
        })?;
        Ok(query)
    }

    /// Parses the JSON body. An empty body means `{}`, that is, the defaults.
    pub(super) fn body<B: DeserializeOwned>(&self) -> Result<B, Problem> {
        let bytes: &[u8] = if self.body.is_empty() { b"{}" } else { &self.body };
        serde_json::from_slice(bytes).map_err(|e| {
            let hint = "GET /api/openapi.json describes the body.";
            if e.is_data() {
                Problem::unprocessable(format!("the body does not match its schema: {e}"), hint)
            } else {
                Problem::bad_request(format!("the body is not JSON: {e}"), hint)
            }
        })
    }
}
