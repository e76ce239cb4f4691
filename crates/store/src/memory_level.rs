//! [`MemoryLevel`]: whether an observation belongs to one project or to all.

use serde::{Deserialize, Serialize};

/// The projects to which an observation applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Level")]
pub enum MemoryLevel {
    #[default]
    Project,
    /// The project it was made in, until the user confirms it as a preference.
    Proposed,
    /// All projects.
    User,
}

impl MemoryLevel {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Proposed => "proposed",
            Self::User => "user",
        }
    }

    pub(super) fn from_column(text: &str) -> Self {
        match text {
            "proposed" => Self::Proposed,
            "user" => Self::User,
            _ => Self::Project,
        }
    }
}
