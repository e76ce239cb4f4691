//! Answers: JSON, or an [`ErrorReply`].

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use claude_mem_wire::{ErrorCode, ErrorReply};
use serde::Serialize;

use crate::error::ServiceError;
use crate::log;

/// Seconds after which a client comes back when the database is away.
const AWAY_SECONDS: u64 = 2;

/// A successful answer.
#[derive(Debug)]
pub(super) struct JsonReply<T>(pub(super) T);

impl<T: Serialize> IntoResponse for JsonReply<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(bytes) => json_response(StatusCode::OK, bytes),
            Err(error) => {
                log::line(&format!("cannot write an answer: {error}"));
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}

fn json_response(status: StatusCode, bytes: Vec<u8>) -> Response {
    let mut response = (status, bytes).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl IntoResponse for ServiceError {
    fn into_response(self) -> Response {
        let (code, retry, message) = match &self {
            Self::Refused(code, message) => (*code, None, (*message).to_owned()),
            Self::TooMany(seconds) => (ErrorCode::RateLimited, Some(*seconds), self.to_string()),
            // Database errors are for the operator's log only.
            Self::Raced | Self::Database(_) | Self::Pool(_) | Self::Random(_) => {
                log::failure(&format!("request failed: {self}"));
                let message = "the database is not available; try again".to_owned();
                (ErrorCode::Unavailable, Some(AWAY_SECONDS), message)
            }
        };
        error_response(code, message, retry)
    }
}

/// The answer for a request that failed as a whole.
pub(super) fn error_response(code: ErrorCode, message: String, retry: Option<u64>) -> Response {
    let status = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    let reply = ErrorReply { error: code, message, retry_after_seconds: retry };
    let mut response = match serde_json::to_vec(&reply) {
        Ok(bytes) => json_response(status, bytes),
        Err(_) => status.into_response(),
    };
    if let Some(seconds) = retry {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
