//! [`TeamRecord`]: a row of another member in its portable form.

use serde::Serialize;

use claude_mem_core::ids::PublicId;

/// A row that another member shared. It is exported beside the user's own rows and never imported: others' rows come from
/// the team's server, with its word for their author.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TeamRecord<T> {
    /// The member's public id.
    pub member: PublicId,
    #[serde(flatten)]
    pub record: T,
}

/// Whose rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowAuthors {
    /// The user's own, from any machine.
    User,
    OtherMembers,
}

impl RowAuthors {
    /// The SQL condition on a table with a column `member`.
    pub(super) fn condition(self, table: &str) -> String {
        match self {
            Self::User => format!("{table}.member IS NULL"),
            Self::OtherMembers => format!("{table}.member IS NOT NULL"),
        }
    }
}
