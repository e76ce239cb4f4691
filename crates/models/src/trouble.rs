//! [`ModelTrouble`]: why memories are being made without the configured model.
//!
//! The driver reports one after each call that gave no usable answer, and after each call that the
//! budget forbids; a usable answer ends it. `status`, the viewer and the start of a session show it.
//!
//! Invariant: it contains our own words and status codes, never a key and never the server's text.

use serde::{Deserialize, Serialize};

use crate::budget::BudgetScope;
use crate::model::ModelError;
use claude_mem_core::clock::Millis;

/// The key of the store's `meta` table under which the worker keeps it as JSON. An empty value means
/// that the last call succeeded.
pub const MODEL_TROUBLE_KEY: &str = "model_trouble";

/// The kind of trouble, which decides the advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TroubleKind {
    Credentials,
    Quota,
    DayBudget,
    SessionBudget,
    Unreachable,
    Misconfigured,
    Rejected,
    Busy,
    TimedOut,
    Malformed,
    /// The model's text does not have the requested format.
    InvalidAnswer,
}

/// A failure as a call reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTrouble {
    pub kind: TroubleKind,
    pub why: String,
}

/// A failure that lasts, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelTrouble {
    pub kind: TroubleKind,
    pub why: String,
    /// The provider's name.
    pub provider: String,
    /// Since when no call has succeeded.
    pub since: Millis,
    /// The last failure.
    pub last: Millis,
}

impl CallTrouble {
    pub fn new(kind: TroubleKind, why: impl Into<String>) -> Self {
        Self { kind, why: why.into() }
    }

    /// The trouble that an error means. `None` if only this one episode is affected.
    pub fn from_error(error: &ModelError) -> Option<Self> {
        let kind = match error.cause() {
            ModelError::Refused { .. } | ModelError::TooLong => return None,
            ModelError::Retry { .. } | ModelError::Charged { .. } => TroubleKind::Busy,
            ModelError::Quota { .. } => TroubleKind::Quota,
            ModelError::Auth { .. } => TroubleKind::Credentials,
            ModelError::Misconfigured { .. } => TroubleKind::Misconfigured,
            ModelError::Rejected { .. } => TroubleKind::Rejected,
            ModelError::Unreachable { .. } => TroubleKind::Unreachable,
            ModelError::TimedOut => TroubleKind::TimedOut,
            ModelError::Garbled { .. } => TroubleKind::Malformed,
        };
        Some(Self::new(kind, error.to_string()))
    }

    /// The trouble of a used-up budget.
    pub fn from_budget(scope: BudgetScope) -> Self {
        match scope {
            BudgetScope::Day => Self::new(TroubleKind::DayBudget, "the token budget of the day is used up"),
            BudgetScope::Session => {
                Self::new(TroubleKind::SessionBudget, "the token budget of a session is used up")
            }
        }
    }
}

impl TroubleKind {
    /// Advice for the user.
    pub const fn fix(self) -> &'static str {
        match self {
            Self::Credentials => {
                "claude-mem config set api_key_file FILE; for the claude provider, log in with `claude`"
            }
            Self::Quota => "raise the provider's limit, or claude-mem config set provider local",
            Self::DayBudget => "claude-mem config set budget_tokens_per_day raises the limit",
            Self::SessionBudget => "claude-mem config set budget_tokens_per_session raises the limit",
            Self::Unreachable => {
                "start the provider or correct base_url; claude-mem doctor tests the connection"
            }
            Self::Misconfigured => "claude-mem doctor",
            Self::Rejected => "claude-mem config set model selects another model",
            Self::Busy => "it is retried with the next turn; claude-mem config set provider local stops it",
            Self::TimedOut => "claude-mem config set model_seconds, or a faster model",
            Self::Malformed => {
                "check that base_url is an API of this provider: claude-mem config get base_url"
            }
            Self::InvalidAnswer => "claude-mem config set model selects a model that keeps to the format",
        }
    }

    /// Whether it ends with the day.
    pub const fn is_budget(self) -> bool {
        matches!(self, Self::DayBudget | Self::SessionBudget)
    }
}

impl ModelTrouble {
    /// Parses the stored value; `None` if there is no trouble, or another version wrote it.
    pub fn from_json(text: Option<&str>) -> Option<Self> {
        serde_json::from_str(text.filter(|text| !text.is_empty())?).ok()
    }
}
