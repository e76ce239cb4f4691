//! Finds the user's Claude Code and builds the environment of the child that writes memories.
//!
//! Invariant: the program is an absolute path from the settings, the install manifest or a fixed list of
//! places, and the environment is made from settings. No `PATH` and no variable of a session counts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::claude::{ClaudeLaunch, compressor_environment};
use super::error::ModelError;
use claude_mem_core::config::{SecretString, Settings};

/// The user's Claude Code, as the install manifest recorded it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaudeInstall {
    pub home: PathBuf,
    /// `None` if install did not find the program.
    pub program: Option<PathBuf>,
    /// The client's configuration directory, if it is not `~/.claude`.
    pub config_dir: Option<PathBuf>,
}

impl ClaudeInstall {
    /// The program to run, and its candidates if there is none.
    pub fn find_program(
        &self,
        settings: &Settings,
        is_file: impl Fn(&Path) -> bool,
    ) -> Result<PathBuf, ModelError> {
        let named = Some(settings.claude_program.trim()).filter(|path| !path.is_empty());
        if let Some(named) = named.map(PathBuf::from) {
            return if named.is_absolute() && is_file(&named) {
                Ok(named)
            } else {
                Err(ModelError::misconfigured("claude_program is not the absolute path of a file"))
            };
        }
        let usual = [self.home.join(".local/bin"), self.home.join(".claude/local")];
        let usual = usual.into_iter().chain(SYSTEM_DIRECTORIES.iter().map(PathBuf::from));
        let places = self.program.clone().into_iter().chain(usual.map(|dir| dir.join("claude")));
        let found = places.into_iter().find(|program| program.is_absolute() && is_file(program));
        found.ok_or_else(|| ModelError::misconfigured("claude was not found"))
    }
}

/// Directories of programs for all users.
const SYSTEM_DIRECTORIES: &[&str] = &["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/bin"];

impl ClaudeLaunch {
    /// An empty value, for providers other than Claude Code.
    pub const fn none() -> Self {
        Self { program: OsString::new(), model: String::new(), env: Vec::new(), directory: PathBuf::new() }
    }

    /// Prepares the launch. `worker_env` is the worker's own allow-listed environment; `is_file` checks the
    /// disk.
    pub fn prepare(
        install: &ClaudeInstall,
        settings: &Settings,
        key: &SecretString,
        worker_env: &[(OsString, OsString)],
        directory: PathBuf,
        is_file: impl Fn(&Path) -> bool,
    ) -> Result<Self, ModelError> {
        let program = install.find_program(settings, &is_file)?;
        let mut env: Vec<(OsString, OsString)> =
            worker_env.iter().filter(|(name, _)| name != "HOME").cloned().collect();
        let mut set = |name: &str, value: &std::ffi::OsStr| env.push((name.into(), value.to_owned()));
        set("HOME", install.home.as_os_str());
        set("PATH", &search_path(&program));
        if let Some(dir) = &install.config_dir {
            set("CLAUDE_CONFIG_DIR", dir.as_os_str());
        }
        // Without a key of its own, another address would get the login of the subscription.
        let base_url = Some(settings.base_url.trim()).filter(|url| !url.is_empty() && !key.is_empty());
        if let Some(base_url) = base_url {
            set("ANTHROPIC_BASE_URL", base_url.as_ref());
        }
        if !key.is_empty() {
            set("ANTHROPIC_API_KEY", key.expose().as_ref());
        }
        if !settings.proxy.is_empty() {
            set("HTTPS_PROXY", settings.proxy.expose().trim().as_ref());
        }
        if !settings.root_certificates.trim().is_empty() {
            set("NODE_EXTRA_CA_CERTS", settings.root_certificates.trim().as_ref());
        }
        for pair in &settings.claude_variables {
            let (name, value) = pair
                .split_once('=')
                .ok_or_else(|| ModelError::misconfigured("claude_variables contains an entry without `=`"))?;
            set(name.trim(), value.as_ref());
        }
        // A key would take precedence over the subscription and be billed per token.
        let config = install.config_dir.clone().unwrap_or_else(|| install.home.join(".claude"));
        let has_token = env.iter().any(|(name, _)| name == "CLAUDE_CODE_OAUTH_TOKEN");
        let has_login = has_token || is_file(&config.join(".credentials.json"));
        let env = compressor_environment(env, !has_login || base_url.is_some())?;
        Ok(Self { program: program.into(), model: String::new(), env, directory })
    }
}

/// The `PATH` of the child. An installation with npm puts `claude` beside the `node` that runs it.
fn search_path(program: &Path) -> OsString {
    let beside = program.parent().map(Path::to_owned);
    let dirs = beside.into_iter().chain(SYSTEM_DIRECTORIES.iter().map(PathBuf::from));
    let usable = dirs.filter(|dir| !dir.as_os_str().as_encoded_bytes().contains(&b':'));
    // Joining fails only for directories with a colon.
    std::env::join_paths(usable).unwrap_or_default()
}

#[cfg(test)]
#[path = "claude_launch_tests.rs"]
mod tests;
