//! [`MemberRole`]: what a member of a team may do.

use serde::{Deserialize, Serialize};

/// The role of a member of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemberRole {
    /// Invites, revokes and retracts, and everything a member may.
    Admin,
    Member,
    /// Reads the team's spaces and writes nothing.
    Reader,
    /// A program, for example a CI job. Reads and writes the team's spaces; has no space of its own.
    Bot,
}

impl MemberRole {
    pub const ALL: [Self; 4] = [Self::Admin, Self::Member, Self::Reader, Self::Bot];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Member => "member",
            Self::Reader => "reader",
            Self::Bot => "bot",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }

    /// Whether the role may push records.
    pub const fn may_write(self) -> bool {
        !matches!(self, Self::Reader)
    }

    /// Whether the role may find or make spaces of projects, and has a space of its own machines.
    pub const fn may_make_spaces(self) -> bool {
        matches!(self, Self::Admin | Self::Member)
    }

    /// Whether the role may invite, revoke, retract for others and read the audit log.
    pub const fn may_administer(self) -> bool {
        matches!(self, Self::Admin)
    }
}
