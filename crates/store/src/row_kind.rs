//! [`RowKind`]: the kinds of rows that can be searched.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};

/// The kinds of rows that can be searched.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum RowKind {
    Observation,
    Summary,
    Prompt,
    Message,
    /// The account of a whole session. A summary is of one turn.
    Account,
}

impl RowKind {
    pub const ALL: [Self; 5] = [Self::Observation, Self::Summary, Self::Prompt, Self::Message, Self::Account];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Observation => "observation",
            Self::Summary => "summary",
            Self::Prompt => "prompt",
            Self::Message => "message",
            Self::Account => "account",
        }
    }

    pub(crate) const fn table(self) -> &'static str {
        match self {
            Self::Observation => "observations",
            Self::Summary => "session_summaries",
            Self::Prompt => "user_prompts",
            Self::Message => "final_messages",
            Self::Account => "session_accounts",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl rusqlite::ToSql for RowKind {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for RowKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::from_name(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}
