//! What a check has to say.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Ok,
    /// Good to know.
    Note,
    /// Memory does not work as it should.
    Problem,
}

/// What can be done without asking anybody: it loses nothing and can be done again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cure {
    /// Directories that are missing.
    Directories,
    /// Permissions that let others in.
    Privacy,
    /// A database of an older version.
    Migration,
    /// The full-text index, made anew from what it speaks for.
    Words,
    /// Vectors that are missing.
    Vectors,
    /// Events that wait outside.
    Spool,
    /// Hooks and tools in the client's files.
    Registration,
    Worker,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub check: &'static str,
    pub level: Level,
    pub what: String,
    /// The command that mends it, or what a person has to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cure: Option<Cure>,
}

impl Finding {
    pub(super) fn ok(check: &'static str, what: impl Into<String>) -> Self {
        Self {
            check,
            level: Level::Ok,
            what: what.into(),
            fix: None,
            cure: None,
        }
    }

    /// A check that cannot look says so.
    pub(super) fn could_not_look(check: &'static str, error: &dyn std::fmt::Display) -> Self {
        let what = format!("cannot be told: {error}");
        Self::note(check, what, "claude-mem doctor, when that is mended")
    }

    pub(super) fn note(
        check: &'static str,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            level: Level::Note,
            fix: Some(fix.into()),
            ..Self::ok(check, what)
        }
    }

    pub(super) fn problem(
        check: &'static str,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            level: Level::Problem,
            ..Self::note(check, what, fix)
        }
    }

    pub(super) fn cured_by(self, cure: Cure) -> Self {
        Self {
            cure: Some(cure),
            ..self
        }
    }
}
