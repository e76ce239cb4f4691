//! [`ErrorReply`]: the body of every answer that is not a success.

use serde::{Deserialize, Serialize};

/// The error of a whole request, as a decision for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request is not understood. Repeating it is useless.
    BadRequest,
    /// The protocol versions do not overlap: one side must be updated.
    Protocol,
    /// There is no such token.
    Unauthorized,
    /// The token was revoked: purge what others shared.
    Revoked,
    /// The role does not allow it.
    Forbidden,
    NotFound,
    /// The invite is unknown, used or expired.
    InviteInvalid,
    /// The handle belongs to another member.
    HandleTaken,
    /// The team would have no administrator.
    LastAdmin,
    /// The request or the batch is too large: send less at a time.
    TooLarge,
    /// Too many requests. Wait as long as the answer says.
    RateLimited,
    /// The server or its database is not available. Repeat it later.
    Unavailable,
    /// A code of a newer server.
    #[serde(other)]
    Unknown,
}

impl ErrorCode {
    /// The HTTP status of answers with this code.
    pub const fn status(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized | Self::Revoked => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::HandleTaken | Self::LastAdmin => 409,
            Self::InviteInvalid => 410,
            Self::TooLarge => 413,
            Self::Protocol => 426,
            Self::RateLimited => 429,
            Self::Unavailable | Self::Unknown => 503,
        }
    }

    /// Whether the same request may succeed later without anybody's help.
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::RateLimited | Self::Unavailable | Self::Unknown)
    }
}

/// The body of every answer that is not a success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReply {
    pub error: ErrorCode,
    /// A sentence for people.
    pub message: String,
    /// The same as the header `Retry-After`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u64>,
}
