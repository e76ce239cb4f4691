//! [`SharingError`]: why sharing did not go on, as a decision for the caller.

use std::time::Duration;

use claude_mem_store::StoreError;
use claude_mem_wire::{ErrorCode, LinkError};

/// Why sharing did not go on.
#[derive(Debug, thiserror::Error)]
pub enum SharingError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The server cannot be reached, or asks to wait. Repeat it later.
    #[error("the team's server cannot be reached: {why}")]
    Unreachable { why: String, retry_after: Option<Duration> },
    /// The server, or the way to it, went silent in the middle of a request. Repeat it later, or send less at a time.
    #[error("the team's server did not answer in time")]
    TimedOut,
    /// The server refuses the request. Repeating it is useless.
    #[error("{message}")]
    Refused { code: ErrorCode, message: String },
    /// This machine was removed from the team.
    #[error("this machine was removed from the team")]
    Revoked,
    /// The answer breaks the protocol; nothing of it was used.
    #[error("the team's server gave an invalid answer: {0}")]
    InvalidAnswer(&'static str),
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("{0}: {1}")]
    File(&'static str, std::io::Error),
    #[error("{0}")]
    Misconfigured(String),
}

impl SharingError {
    /// Whether the same may succeed later without anybody's help.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::TimedOut | Self::Store(StoreError::Busy) => true,
            Self::Refused { code, .. } => code.is_transient(),
            _ => false,
        }
    }

    /// Whether a smaller request may succeed.
    pub(crate) const fn may_fit_if_smaller(&self) -> bool {
        self.is_too_large() || matches!(self, Self::TimedOut)
    }

    /// Whether the server, or something on the way to it, takes no request of this size.
    pub(crate) const fn is_too_large(&self) -> bool {
        matches!(self, Self::Refused { code: ErrorCode::TooLarge, .. })
    }
}
