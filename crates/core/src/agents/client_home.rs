//! Resolves a [`ClientHome`] on this machine.

use std::ffi::OsString;
use std::path::PathBuf;

use super::coding_agent::ClientHome;

impl ClientHome {
    /// The directory. `None` if neither its variable nor the home directory is known.
    pub fn resolve(&self, env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let given = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let moved = self.variable.and_then(|(name, below)| {
            let dir = given(name)?;
            Some(if below.is_empty() { dir } else { dir.join(below) })
        });
        moved.or_else(|| Some(given("HOME")?.join(self.default)))
    }
}
