//! [`Problem`], the body of every error response: what is wrong, and what to do about it.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use claude_mem_core::config::SettingsWriteError;
use claude_mem_store::StoreError;

/// The body of an error response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(super) struct Problem {
    #[serde(skip)]
    #[schemars(skip)]
    pub(super) status: StatusCode,
    pub(super) error: String,
    pub(super) hint: String,
    /// The database is corrupt and has to be checked.
    #[serde(skip)]
    #[schemars(skip)]
    pub(super) store_corrupt: bool,
    /// The setting that caused the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
}

impl Problem {
    pub(super) fn new(status: StatusCode, error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status, error: error.into(), hint: hint.into(), store_corrupt: false, key: None }
    }

    /// 404: the named thing does not exist.
    pub(super) fn not_found(what: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("{what} was not found"), "It may have been forgotten.")
    }

    /// 400: the request is malformed.
    pub(super) fn bad_request(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error, hint)
    }

    /// 422: the request is well-formed and cannot be fulfilled.
    pub(super) fn unprocessable(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint)
    }

    /// 500: the server failed.
    pub(super) fn internal(error: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string(), "See `claude-mem worker logs`.")
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let (status, hint) = match &error {
            StoreError::NoSuchRow { .. } => return Self::not_found(error_subject(&error)),
            StoreError::Conflict { .. } => (StatusCode::CONFLICT, "Load it again and repeat the change."),
            StoreError::OthersRow { .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "Save a memory of your own instead.")
            }
            StoreError::Busy => (StatusCode::SERVICE_UNAVAILABLE, "Try again in a moment."),
            StoreError::DiskFull => (StatusCode::INSUFFICIENT_STORAGE, "Free some disk space."),
            StoreError::Corrupt => (StatusCode::SERVICE_UNAVAILABLE, "It is being recovered; try again."),
            StoreError::ReadOnly | StoreError::Missing => {
                (StatusCode::SERVICE_UNAVAILABLE, "Run `claude-mem status`.")
            }
            _ => return Self::internal(error),
        };
        Self {
            store_corrupt: matches!(error, StoreError::Corrupt),
            ..Self::new(status, error.to_string(), hint)
        }
    }
}

fn error_subject(error: &StoreError) -> String {
    match error {
        StoreError::NoSuchRow { what, id } => format!("{what} {id}"),
        other => other.to_string(),
    }
}

impl From<SettingsWriteError> for Problem {
    fn from(error: SettingsWriteError) -> Self {
        let status = match error {
            SettingsWriteError::NotJson { .. } => StatusCode::CONFLICT,
            SettingsWriteError::Io { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string(), "Nothing was changed.")
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        Self::internal(error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (self.status, body).into_response();
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        response
    }
}
