//! What can go wrong with a call, as decisions that the caller can take.

use std::time::Duration;

use super::Usage;

/// Why there is no answer. The texts name status codes and our own findings, never a key, never
/// what a server wrote: it may have quoted the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Busy or out of order for a moment.
    #[error("the model is busy: {why}")]
    Retry {
        after: Option<Duration>,
        why: String,
    },
    /// No more is allowed for a while.
    #[error("the provider's quota is used up: {why}")]
    Quota {
        after: Option<Duration>,
        why: String,
    },
    /// Nobody gets in with this key or login.
    #[error("the provider does not accept the credentials: {why}")]
    Auth { why: String },
    /// The settings name something that does not exist or may not be used.
    #[error("the model cannot be used as it is set up: {why}")]
    Misconfigured { why: String },
    /// This request will not be answered, however often it is made.
    #[error("the provider rejects the request: {why}")]
    Rejected { why: String },
    /// The model will not speak about this.
    #[error("the model refused to answer")]
    Refused { usage: Option<Usage> },
    /// More than the model can read.
    #[error("the request is longer than the model can read")]
    TooLong,
    #[error("the model cannot be reached: {why}")]
    Unreachable { why: String },
    #[error("the model did not answer in time")]
    TimedOut,
    /// Something came back that is no answer of this API.
    #[error("the answer could not be understood: {why}")]
    Garbled { why: String },
    /// The error came as the result of a whole turn, which says what it has used. `None`: it
    /// does not.
    #[error("{error}")]
    Charged {
        error: Box<ModelError>,
        usage: Option<Usage>,
    },
}

/// What a failed call may have cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    Nothing,
    Known(Usage),
    /// The model may have worked for nobody. What was reserved counts as spent.
    Unknown,
}

impl ModelError {
    pub fn spent(&self) -> Spent {
        match self {
            Self::Refused { usage: Some(usage) }
            | Self::Charged {
                usage: Some(usage), ..
            } => Spent::Known(*usage),
            Self::Refused { usage: None }
            | Self::Charged { usage: None, .. }
            | Self::TimedOut
            | Self::Garbled { .. } => Spent::Unknown,
            Self::Retry { .. }
            | Self::Quota { .. }
            | Self::Auth { .. }
            | Self::Misconfigured { .. }
            | Self::Rejected { .. }
            | Self::TooLong
            | Self::Unreachable { .. } => Spent::Nothing,
        }
    }

    /// The error itself, whatever it cost.
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
