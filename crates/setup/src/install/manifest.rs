//! The [`InstallManifest`]: what we changed in the client's files, so that it can be undone.
//!
//! For each [`InstalledFile`] it records the hash of the text that we wrote and the path of a
//! backup of the text from before. A file that still has that hash is restored byte for byte.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::legacy_entries::LegacyEntries;
use claude_mem_core::paths;
use claude_mem_models::model::ClaudeInstall;

/// The record of an installation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallManifest {
    /// Our version that wrote it.
    #[serde(default)]
    pub version: String,
    #[serde(default)]
    pub executable: PathBuf,
    /// The client's version, if it was known.
    #[serde(default)]
    pub client: Option<String>,
    #[serde(default)]
    pub files: Vec<InstalledFile>,
    /// Whether the plugin was installed instead of hooks.
    #[serde(default)]
    pub plugin: bool,
    /// The client's program, which the `claude` provider runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_program: Option<PathBuf>,
    /// The client's configuration directory, if it is not `~/.claude`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_dir: Option<PathBuf>,
    /// The home directory of the user who installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<PathBuf>,
    /// The registrations with other agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentInstallation>,
}

/// The registration with an agent other than Claude Code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInstallation {
    pub agent: String,
    pub files: Vec<AgentFileRecord>,
}

/// A file of an agent as we wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentFileRecord {
    pub path: PathBuf,
    /// The backup of the text from before; `None` if there was no file.
    #[serde(default)]
    pub before: Option<PathBuf>,
    pub sha256: String,
}

impl AgentFileRecord {
    /// Whether the file still is as we wrote it.
    pub fn is_unchanged(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| content_hash(text) == self.sha256)
    }

    /// The text from before; `Ok(None)` if there was no file.
    pub fn original_text(&self) -> io::Result<Option<String>> {
        self.before.as_ref().map(std::fs::read_to_string).transpose()
    }
}

/// Our entries in a client's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InstallPart {
    Hooks,
    Server,
}

/// A client file as we wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledFile {
    pub part: InstallPart,
    pub path: PathBuf,
    /// The project that the settings belong to; `None` for the user's.
    #[serde(default)]
    pub project: Option<PathBuf>,
    /// The backup of the text from before; `None` if there was no file.
    #[serde(default)]
    pub before: Option<PathBuf>,
    pub sha256: String,
    /// Entries of the earlier program that `install --adopt` disabled in this file.
    #[serde(default, skip_serializing_if = "LegacyEntries::is_empty")]
    pub adopted: LegacyEntries,
}

impl InstallManifest {
    /// The user's Claude Code. `home` counts if the manifest records none.
    pub fn claude_install(&self, home: PathBuf) -> ClaudeInstall {
        ClaudeInstall {
            home: self.home.clone().unwrap_or(home),
            program: self.client_program.clone(),
            config_dir: self.client_dir.clone(),
        }
    }

    /// Reads the manifest; a missing one is empty. An unreadable one is an error: going on without
    /// it would overwrite it and leave hooks in projects that only it lists.
    pub fn read(path: &Path) -> io::Result<Self> {
        let read = match paths::read_file(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            read => read.and_then(|text| Ok(serde_json::from_slice(&text)?)),
        };
        read.map_err(|e| {
            let path = path.display();
            let help = "take ownership of it (see `ls -l`), or move it away and install again: then only the default locations are checked";
            io::Error::new(e.kind(), format!("the install manifest cannot be read: {path}: {e}; {help}"))
        })
    }

    /// Replaces the manifest on disk.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        paths::replace_file(path, &serde_json::to_vec_pretty(self)?)
    }

    /// The record of a file.
    pub fn find(&self, part: InstallPart, path: &Path, project: Option<&Path>) -> Option<&InstalledFile> {
        self.files.iter().find(|left| left.matches(part, path, project))
    }

    /// Records a file, in place of its old record.
    pub fn insert(&mut self, left: InstalledFile) {
        self.remove(left.part, &left.path, left.project.as_deref());
        self.files.push(left);
    }

    /// Whether Claude Code is among the agents that the installation is for; also if nothing is installed yet.
    pub fn includes_claude_code(&self) -> bool {
        self.plugin || !self.files.is_empty() || self.agents.is_empty()
    }

    /// The registration with an agent other than Claude Code.
    pub fn agent(&self, name: &str) -> Option<&AgentInstallation> {
        self.agents.iter().find(|installation| installation.agent == name)
    }

    /// Records the registration with an agent, in place of its old record.
    pub fn insert_agent(&mut self, installation: AgentInstallation) {
        self.remove_agent(&installation.agent);
        self.agents.push(installation);
    }

    /// Removes the record of an agent.
    pub fn remove_agent(&mut self, name: &str) {
        self.agents.retain(|installation| installation.agent != name);
    }

    /// Removes the record of a file.
    pub fn remove(&mut self, part: InstallPart, path: &Path, project: Option<&Path>) {
        self.files.retain(|left| !left.matches(part, path, project));
    }
}

impl InstalledFile {
    /// A file that no manifest lists: our entries in it are found by searching.
    pub fn unrecorded(part: InstallPart, path: PathBuf, project: Option<PathBuf>) -> Self {
        Self {
            part,
            // An unreadable backup: the text from before is unknown.
            before: Some(PathBuf::new()),
            path,
            project,
            sha256: String::new(),
            adopted: LegacyEntries::default(),
        }
    }

    fn matches(&self, part: InstallPart, path: &Path, project: Option<&Path>) -> bool {
        self.part == part && self.path == path && self.project.as_deref() == project
    }

    /// Whether the file still is as we wrote it.
    pub fn is_unchanged(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| content_hash(text) == self.sha256)
    }

    /// The backup that is recorded and cannot be read, and why.
    pub fn unreadable_backup(&self) -> Option<String> {
        let backup = self.before.as_ref();
        let copy = backup.filter(|copy| !copy.as_os_str().is_empty())?;
        let error = self.original_text().err()?;
        Some(format!("{}: {error}", copy.display()))
    }

    /// The text from before; `Ok(None)` if there was no file.
    pub fn original_text(&self) -> io::Result<Option<String>> {
        self.before.as_ref().map(std::fs::read_to_string).transpose()
    }
}

/// The SHA-256 of a text, in hex.
pub fn content_hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let mut hex = String::with_capacity(64);
    for byte in digest {
        hex.push_str(&format!("{byte:02x}"));
    }
    hex
}

/// Writes a backup under a unique name. `stamp` makes names sort by time.
pub fn write_backup(dir: &Path, path: &Path, stamp: &str, text: &str) -> io::Result<PathBuf> {
    use std::io::Write as _;
    paths::create_dir(dir)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.trim_start_matches('.');
    for attempt in 1.. {
        let suffix = if attempt == 1 { String::new() } else { format!("-{attempt}") };
        let copy = dir.join(format!("{name}.{stamp}{suffix}"));
        match paths::create_file(&copy) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            file => {
                file?.write_all(text.as_bytes())?;
                return Ok(copy);
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_round_trips_and_torn_one_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("installed.json");
        assert_eq!(InstallManifest::read(&path).unwrap(), InstallManifest::default());
        let mut manifest = InstallManifest::default();
        manifest.insert(InstalledFile {
            part: InstallPart::Hooks,
            path: "/a".into(),
            project: None,
            before: None,
            sha256: content_hash("x"),
            adopted: LegacyEntries::default(),
        });
        manifest.write(&path).unwrap();
        assert_eq!(InstallManifest::read(&path).unwrap(), manifest);
        assert!(manifest.find(InstallPart::Hooks, Path::new("/a"), None).unwrap().is_unchanged(Some("x")));
        std::fs::write(&path, "{\"version\": \"0.").unwrap();
        let torn = InstallManifest::read(&path).unwrap_err();
        assert!(torn.to_string().contains("installed.json"), "{torn}");
    }

    #[test]
    fn backups_of_one_second_are_kept_apart() {
        let dir = tempfile::tempdir().unwrap();
        let keep = |text| write_backup(dir.path(), Path::new("/h/.claude.json"), "20260131T100000Z", text);
        let (first, second) = (keep("1").unwrap(), keep("2").unwrap());
        assert_ne!(first, second);
        assert_eq!(std::fs::read_to_string(first).unwrap(), "1");
    }
}
