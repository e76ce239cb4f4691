//! [`DoctorFinding`], the result of a check.

use serde::Serialize;

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingLevel {
    Ok,
    /// Worth knowing.
    Note,
    /// Memory does not work as intended.
    Problem,
}

/// A repair that needs no confirmation: it loses nothing and can be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AutoFix {
    /// Create missing directories.
    Directories,
    /// Remove access for other users.
    Privacy,
    /// Migrate a database of an older version.
    Migration,
    /// Rebuild the full-text index from the rows.
    Words,
    /// Compute missing vectors.
    Vectors,
    /// Move spooled events into the queue.
    Spool,
    /// Register hooks and tools in the client's files again.
    Registration,
    /// Restart the worker.
    Worker,
}

/// The result of a check, and the fix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorFinding {
    pub check: &'static str,
    pub level: FindingLevel,
    pub what: String,
    /// The command that fixes it, or what the user has to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The repair that `claude-mem doctor --fix` would run.
    #[serde(rename = "cure", skip_serializing_if = "Option::is_none")]
    pub auto_fix: Option<AutoFix>,
}

impl DoctorFinding {
    /// Nothing is wrong.
    pub(super) fn ok(check: &'static str, what: impl Into<String>) -> Self {
        Self { check, level: FindingLevel::Ok, what: what.into(), fix: None, auto_fix: None }
    }

    /// The finding of a check that could not examine its subject.
    pub(super) fn unknown(check: &'static str, error: &dyn std::fmt::Display) -> Self {
        let what = format!("could not be checked: {error}");
        Self::note(check, what, "claude-mem doctor, once that is fixed")
    }

    /// Something worth knowing.
    pub(super) fn note(check: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { level: FindingLevel::Note, fix: Some(fix.into()), ..Self::ok(check, what) }
    }

    /// Something that keeps memory from working as intended.
    pub(super) fn problem(check: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { level: FindingLevel::Problem, ..Self::note(check, what, fix) }
    }

    /// Adds the repair that `--fix` runs.
    pub(super) fn with_auto_fix(self, cure: AutoFix) -> Self {
        Self { auto_fix: Some(cure), ..self }
    }
}
