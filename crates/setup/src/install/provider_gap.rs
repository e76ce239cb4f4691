//! Finds what the configured provider still lacks, for `install`.

use std::path::{Path, PathBuf};

use super::manifest::InstallManifest;
use crate::user_notice::UserNotice;
use claude_mem_core::config::{Provider, Settings};
use claude_mem_models::model::{ProviderConfig, read_api_key};

/// The missing key, model or program of the configured provider, and the command that adds it. `root` is
/// the data directory; `home` counts if the manifest records none.
pub fn missing_for_provider(
    root: &Path,
    settings: &Settings,
    manifest: &InstallManifest,
    home: PathBuf,
) -> Option<UserNotice> {
    let key = match read_api_key(root, settings) {
        Ok(key) => key,
        Err(error) => {
            return Some(UserNotice::new(error.to_string(), "claude-mem config set api_key_file FILE"));
        }
    };
    let choice = ProviderConfig::from_settings(settings, key)?;
    if settings.provider == Provider::Claude {
        let install = manifest.claude_install(home);
        let missing = install.find_program(settings, Path::is_file).err()?;
        return Some(UserNotice::new(missing.to_string(), "claude-mem config set claude_program PATH"));
    }
    choice.missing_part().map(|missing| UserNotice::new(missing.what, missing.fix))
}
