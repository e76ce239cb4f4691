//! [`UserNotice`]: a condition that needs the user's attention, and what to do about it.

use serde::Serialize;

/// A condition that needs the user's attention, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UserNotice {
    pub what: String,
    pub fix: String,
}

impl UserNotice {
    pub(crate) fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), fix: fix.into() }
    }

    /// One line that names the program, for use outside our own output.
    pub fn line(&self) -> String {
        format!("claude-mem: {} ({})", self.what, self.fix)
    }
}
