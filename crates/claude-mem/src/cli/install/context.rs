//! [`InstallOptions`] and [`InstallContext`]: the request, and the facts that the steps need.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::agent_choice::AgentChoice;
use super::client_process::find_client;
use super::steps::{StepReporter, StepState};
use crate::cli::app::App;
use claude_mem_core::paths::DataDir;
use claude_mem_setup::install::client::ClientCapabilities;
use claude_mem_setup::install::entry::LaunchSpec;
use claude_mem_setup::install::find::InstalledClient;
use claude_mem_setup::install::manifest::InstallManifest;
use claude_mem_setup::install::plan::ClientPaths;

/// The request of `install`, `repair` or `doctor`.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(in crate::cli) struct InstallOptions {
    pub(in crate::cli) dry_run: bool,
    /// Questions may be asked: a person is at the terminal.
    pub(in crate::cli) may_ask: bool,
    pub(in crate::cli) project: Option<PathBuf>,
    /// Further projects to register hooks for; `None` is the user.
    pub(in crate::cli) other_places: Vec<Option<PathBuf>>,
    pub(in crate::cli) plugin: bool,
    pub(in crate::cli) adopt: bool,
    pub(in crate::cli) provider: Option<String>,
    pub(in crate::cli) no_check: bool,
    /// The agents to register with.
    pub(in crate::cli) agents: AgentChoice,
    /// Do not write settings that are unset.
    pub(in crate::cli) keep_settings: bool,
}

/// The facts that the installation steps need: the options, the client and its files.
pub(in crate::cli) struct InstallContext<'a> {
    pub(super) app: &'a App,
    pub(super) wish: InstallOptions,
    pub(in crate::cli) places: ClientPaths,
    pub(in crate::cli) launch: LaunchSpec,
    pub(in crate::cli) manifest: InstallManifest,
    pub(in crate::cli) client: Option<InstalledClient>,
}

impl<'a> InstallContext<'a> {
    pub(super) fn from_process(app: &'a App, wish: InstallOptions) -> anyhow::Result<Self> {
        let manifest = InstallManifest::read(&app.data.installed())?;
        Self::new(app, wish, manifest)
    }

    pub(super) fn new(app: &'a App, wish: InstallOptions, manifest: InstallManifest) -> anyhow::Result<Self> {
        let env = |name: &str| std::env::var_os(name);
        let places = ClientPaths::find(env, wish.project.clone())
            .context("no home directory, so Claude Code's settings cannot be found")?;
        let executable = executable()?;
        let client = find_client(app);
        let abilities = ClientCapabilities::for_version(client.as_ref().and_then(|found| found.version));
        // Hooks use the default directory by themselves.
        let usual = DataDir::find(|name| env(name).filter(|_| name != "CLAUDE_MEM_DATA_DIR"));
        let data_dir = (usual.as_ref() != Some(&app.data)).then(|| app.data.root().to_owned());
        Ok(Self {
            manifest,
            launch: LaunchSpec { executable, data_dir, capabilities: abilities },
            app,
            wish,
            places,
            client,
        })
    }

    pub(super) fn report_client(&self, steps: &mut StepReporter<'_>) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.launch.capabilities.is_supported(),
            "Claude Code is older than {}, the oldest supported version; update it, nothing was changed",
            claude_mem_setup::install::client::OLDEST_SUPPORTED
        );
        let detail = match &self.client {
            Some(InstalledClient { version: Some(version), program }) => {
                format!("Claude Code {version} ({})", program.display())
            }
            Some(InstalledClient { version: None, program }) => {
                format!(
                    "Claude Code, unknown version ({}); using the hooks that every version supports",
                    program.display()
                )
            }
            None => "Claude Code not found; using the hooks that every version supports".to_owned(),
        };
        let state = if self.client.is_some() { StepState::Ok } else { StepState::Note };
        steps.report("client", state, detail)
    }
}

/// The path that hooks use for this executable. Fails if the file was replaced: the kernel then reports a
/// path that does not exist.
fn executable() -> anyhow::Result<PathBuf> {
    let path = std::env::current_exe().context("cannot determine the path of this executable")?;
    anyhow::ensure!(
        path.is_file(),
        "{} was replaced or removed while running; run the new one",
        path.display()
    );
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    Ok(linked_executable(&path, std::env::split_paths(&search_path)).unwrap_or(path))
}

/// A link on the search path that leads to `own`, if that is in a directory of this version. Package managers
/// that keep each version in a directory of its own change the link when they update, and remove the directory.
fn linked_executable(own: &Path, search_path: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    let name = own.file_name()?;
    let mut directories = own.ancestors().skip(1).filter_map(Path::file_name);
    if !directories.any(|dir| dir.to_string_lossy().starts_with(env!("CARGO_PKG_VERSION"))) {
        return None;
    }
    search_path
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(|link| link.is_symlink() && link.canonicalize().is_ok_and(|target| target == own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_to_a_versioned_directory_is_preferred() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let versioned = format!("cellar/{}_1/bin", env!("CARGO_PKG_VERSION"));
        for below in [&versioned, "bin", "other", "stable"] {
            std::fs::create_dir_all(root.join(below)).unwrap();
        }
        let [own, stable] = [&versioned, "stable"].map(|below| root.join(below).join("claude-mem"));
        for executable in [&own, &stable] {
            std::fs::write(executable, "").unwrap();
        }
        let search_path = |below: &str| std::iter::once(root.join(below));
        let link = |to: &Path, below: &str| {
            let link = root.join(below).join("claude-mem");
            std::os::unix::fs::symlink(to, &link).unwrap();
            link
        };
        assert_eq!(linked_executable(&own, search_path("bin")), None, "no link yet");
        let first = link(&own, "bin");
        assert_eq!(linked_executable(&own, search_path("bin")), Some(first));
        link(&stable, "other");
        assert_eq!(linked_executable(&own, search_path("other")), None, "a link to another file");
        assert_eq!(linked_executable(&stable, search_path("other")), None, "this path stays");
    }
}
