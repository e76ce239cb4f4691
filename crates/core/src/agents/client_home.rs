//! [`ClientHome`]: a directory of a client, and where it is on this machine.

use std::ffi::OsString;
use std::path::PathBuf;

/// A directory of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientHome {
    /// The variable that moves it, and the path below the variable's value.
    pub variable: Option<(&'static str, &'static str)>,
    /// Its path below the home directory.
    pub default: &'static str,
}

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
