//! Errors of a model call, as decisions that the caller can take.

use std::time::Duration;

use super::TokenUsage;

/// Why a call returned no answer. Messages contain status codes and our own findings, never a key and
/// never the server's text, which may quote the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Temporarily busy or out of order.
    #[error("the model is busy: {why}")]
    Retry { after: Option<Duration>, why: String },
    /// The quota is exhausted for a longer time.
    #[error("the provider's quota is used up: {why}")]
    Quota { after: Option<Duration>, why: String },
    /// The key or login is not accepted.
    #[error("the provider rejected the credentials: {why}")]
    Auth { why: String },
    /// The settings name something that does not exist or may not be used.
    #[error("the model is misconfigured: {why}")]
    Misconfigured { why: String },
    /// This request is rejected, and a retry would be too.
    #[error("the provider rejected the request: {why}")]
    Rejected { why: String },
    /// The model refuses to answer this request.
    #[error("the model refused to answer")]
    Refused { usage: Option<TokenUsage> },
    /// The request exceeds the model's context.
    #[error("the request is longer than the model can read")]
    TooLong,
    #[error("the model cannot be reached: {why}")]
    Unreachable { why: String },
    #[error("the model did not answer in time")]
    TimedOut,
    /// The response does not conform to the API.
    #[error("the provider's response is malformed: {why}")]
    Garbled { why: String },
    /// An error that was the result of a whole turn, with the usage of that turn if reported.
    #[error("{error}")]
    Charged { error: Box<ModelError>, usage: Option<TokenUsage> },
}

/// The possible cost of a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureCost {
    Nothing,
    Known(TokenUsage),
    /// The model may have worked for nothing. The reservation counts as spent.
    Unknown,
}

impl ModelError {
    /// The cost of the failed call.
    pub fn cost(&self) -> FailureCost {
        match self {
            Self::Refused { usage: Some(usage) } | Self::Charged { usage: Some(usage), .. } => {
                FailureCost::Known(*usage)
            }
            Self::Refused { usage: None }
            | Self::Charged { usage: None, .. }
            | Self::TimedOut
            | Self::Garbled { .. } => FailureCost::Unknown,
            Self::Retry { .. }
            | Self::Quota { .. }
            | Self::Auth { .. }
            | Self::Misconfigured { .. }
            | Self::Rejected { .. }
            | Self::TooLong
            | Self::Unreachable { .. } => FailureCost::Nothing,
        }
    }

    /// The error itself, without [`ModelError::Charged`].
    pub fn cause(&self) -> &Self {
        match self {
            Self::Charged { error, .. } => error.cause(),
            error => error,
        }
    }

    pub(super) fn garbled(why: impl Into<String>) -> Self {
        Self::Garbled { why: why.into() }
    }

    pub(super) fn misconfigured(why: impl Into<String>) -> Self {
        Self::Misconfigured { why: why.into() }
    }

    pub(super) fn unreachable(why: impl Into<String>) -> Self {
        Self::Unreachable { why: why.into() }
    }
}
