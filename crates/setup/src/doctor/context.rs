//! What the checks may examine ([`DoctorContext`]), gathered by the caller.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::install::entry::LaunchSpec;
use crate::install::find::InstalledClient;
use crate::install::manifest::InstallManifest;
use crate::install::plan::ClientPaths;
use claude_mem_core::clock::Millis;
use claude_mem_core::config::LoadedSettings;
use claude_mem_core::paths::DataDir;

/// The state of the worker, as probed by the caller.
#[derive(Clone, Debug, Default)]
pub struct WorkerProbe {
    pub running: bool,
    pub version: Option<String>,
    pub port: Option<u16>,
    pub trouble: Option<String>,
}

/// Everything that a check may examine.
pub struct DoctorContext<'a> {
    pub data: &'a DataDir,
    pub now: Millis,
    pub settings: &'a LoadedSettings,
    pub launch: LaunchSpec,
    pub client_paths: ClientPaths,
    pub client: Option<InstalledClient>,
    pub manifest: InstallManifest,
    /// Why the install manifest cannot be read, if it exists.
    pub manifest_error: Option<String>,
    pub worker: WorkerProbe,
    pub env: &'a dyn Fn(&str) -> Option<OsString>,
    /// The client's settings that an administrator manages for all users.
    pub managed_settings: PathBuf,
}

impl std::fmt::Debug for DoctorContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DoctorContext")
            .field("data", &self.data)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}
