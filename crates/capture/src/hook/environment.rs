//! [`HookEnvironment`]: what a hook knows before it has read its payload.

use std::ffi::OsString;
use std::path::Path;

use claude_mem_core::client_version::ClientVersion;
use claude_mem_core::clock::{Micros, Millis};
use claude_mem_core::config::Settings;
use claude_mem_core::paths::DataDir;
use claude_mem_store::{StoreError, StoreReader};

/// Start time and environment variables of a hook process, read once in `main`.
#[derive(Debug)]
pub struct HookEnvironment<E> {
    pub started: Micros,
    pub env: E,
    /// Finds the notices for the person at session start.
    pub notices: StartNotices,
}

/// Finds what needs the person's attention at session start, one line each. The executable passes
/// it in, so that a hook does not link the installer.
pub type StartNotices = fn(
    &StoreReader<'_>,
    &DataDir,
    &Settings,
    Millis,
    Option<ClientVersion>,
) -> Result<Vec<String>, StoreError>;

impl<E: Fn(&str) -> Option<OsString>> HookEnvironment<E> {
    pub fn is_strict(&self) -> bool {
        self.is_enabled("CLAUDE_MEM_STRICT")
    }

    pub(super) fn is_enabled(&self, name: &str) -> bool {
        (self.env)(name).is_some_and(|value| !value.is_empty() && value != "0")
    }

    pub(super) fn text_var(&self, name: &str) -> Option<String> {
        (self.env)(name).and_then(|value| value.into_string().ok())
    }

    pub(super) fn home(&self) -> OsString {
        (self.env)("HOME").unwrap_or_default()
    }

    /// Whether `dir` is inside a home directory that does not exist.
    pub(super) fn is_home_missing(&self, dir: &DataDir) -> bool {
        let home = self.home();
        let home = Path::new(&home);
        !home.as_os_str().is_empty() && dir.root().starts_with(home) && matches!(home.try_exists(), Ok(false))
    }
}
