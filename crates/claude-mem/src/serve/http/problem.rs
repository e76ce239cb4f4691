//! What a request is told when it gets nothing: what is the matter, and what to do.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::config::WriteError;
use crate::store::StoreError;

/// The body of every answer that is not a success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(super) struct Problem {
    #[serde(skip)]
    #[schemars(skip)]
    pub(super) status: StatusCode,
    pub(super) error: String,
    pub(super) hint: String,
    /// The store is the matter, and has to be looked at.
    #[serde(skip)]
    #[schemars(skip)]
    pub(super) damaged: bool,
    /// The setting that the problem is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
}

impl Problem {
    pub(super) fn new(
        status: StatusCode,
        error: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            status,
            error: error.into(),
            hint: hint.into(),
            damaged: false,
            key: None,
        }
    }

    pub(super) fn not_there(what: impl std::fmt::Display) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            format!("{what} is not there"),
            "It may have been forgotten.",
        )
    }

    /// The request itself makes no sense.
    pub(super) fn bad(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error, hint)
    }

    /// It makes sense, and asks for what cannot be.
    pub(super) fn unfit(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint)
    }

    pub(super) fn ours(error: impl std::fmt::Display) -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            error.to_string(),
            "`claude-mem worker logs` may say more.",
        )
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let (status, hint) = match &error {
            StoreError::NoSuchRow { .. } => return Self::not_there(error_subject(&error)),
            StoreError::Busy => (StatusCode::SERVICE_UNAVAILABLE, "Try again in a moment."),
            StoreError::DiskFull => (StatusCode::INSUFFICIENT_STORAGE, "Make room on the disk."),
            StoreError::Damaged => (
                StatusCode::SERVICE_UNAVAILABLE,
                "It is being recovered; try again.",
            ),
            StoreError::ReadOnly | StoreError::Missing => (
                StatusCode::SERVICE_UNAVAILABLE,
                "`claude-mem status` says what is wrong.",
            ),
            _ => return Self::ours(error),
        };
        Self {
            damaged: matches!(error, StoreError::Damaged),
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

impl From<WriteError> for Problem {
    fn from(error: WriteError) -> Self {
        let status = match error {
            WriteError::NotJson { .. } => StatusCode::CONFLICT,
            WriteError::Io { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string(), "Nothing was changed.")
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        Self::ours(error)
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
