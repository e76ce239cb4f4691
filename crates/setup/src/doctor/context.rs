//! [`DoctorContext`]: the facts that the checks examine, gathered by the caller.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::install::client::ClientCapabilities;
use crate::install::entry::LaunchSpec;
use crate::install::find::InstalledClient;
use crate::install::manifest::InstallManifest;
use crate::install::plan::ClientPaths;
use claude_mem_core::agents::MANAGED_SETTINGS;
use claude_mem_core::client_version::ClientVersion;
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

impl<'a> DoctorContext<'a> {
    /// The context of a process without a search path, such as the worker: executable, client and version are
    /// those that the install manifest records. `None` if the home directory is unknown.
    pub fn from_manifest(
        data: &'a DataDir,
        now: Millis,
        settings: &'a LoadedSettings,
        worker: WorkerProbe,
        env: &'a dyn Fn(&str) -> Option<OsString>,
    ) -> Option<Self> {
        let (manifest, manifest_error) = match InstallManifest::read(&data.installed()) {
            Ok(manifest) => (manifest, None),
            Err(error) => (InstallManifest::default(), Some(error.to_string())),
        };
        let version = manifest.client.as_deref().and_then(ClientVersion::find);
        // Hooks use the default directory by themselves.
        let default_dir = DataDir::find(|name| env(name).filter(|_| name != "CLAUDE_MEM_DATA_DIR"));
        let launch = LaunchSpec {
            executable: manifest.executable.clone(),
            data_dir: (default_dir.as_ref() != Some(data)).then(|| data.root().to_owned()),
            capabilities: ClientCapabilities::for_version(version),
        };
        Some(Self {
            data,
            now,
            settings,
            launch,
            client_paths: manifest_paths(&manifest, env)?,
            client: None,
            manifest,
            manifest_error,
            worker,
            env,
            managed_settings: MANAGED_SETTINGS.into(),
        })
    }
}

/// The user's client files, in the directory that the manifest records.
pub(crate) fn manifest_paths(
    manifest: &InstallManifest,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Option<ClientPaths> {
    match &manifest.client_dir {
        Some(dir) => Some(ClientPaths::in_directory(dir)),
        None => ClientPaths::find(env, None),
    }
}

impl std::fmt::Debug for DoctorContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DoctorContext")
            .field("data", &self.data)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}
