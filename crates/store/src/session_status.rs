//! [`SessionStatus`]: the state of a session.

use serde::{Deserialize, Serialize};

/// The state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SessionStatus {
    Active,
    Completed,
    Failed,
    /// No event for a day, and no end was reported.
    Interrupted,
    /// Must not be recorded; only its id is stored.
    Ignored,
}

impl SessionStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Ignored => "ignored",
        }
    }

    pub(super) fn from_column(text: &str) -> Self {
        match text {
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "interrupted" => Self::Interrupted,
            "ignored" => Self::Ignored,
            _ => Self::Active,
        }
    }
}
