//! The [`ChangePlan`]: changes of the client's files, planned first and then applied.
//!
//! [`plan_install`] and [`plan_uninstall`] compute [`FileChange`]s, [`record_plan`] writes backups
//! and the manifest, and [`apply_all`] writes the files.
//!
//! Invariant: all files are read and parsed before the first one is written; if a later file cannot
//! be written, the earlier ones are rolled back.

use crate::limits::CLIENT_SETTINGS_BYTES_MAX;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::entry::{EntryOwner, LaunchSpec};
use super::file::{ClientFile, ClientFileError};
use super::server::ServerEditError;
use super::{hooks, server};
use crate::install::legacy;
use crate::install::legacy_entries::LegacyEntries;
use crate::install::manifest;
use crate::install::manifest::{InstallManifest, InstallPart, InstalledFile};

/// Maximum bytes of a client's state file, which grows with every project.
const CLIENT_STATE_BYTES_MAX: u64 = 64 << 20;

/// The paths of a client's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientPaths {
    /// The settings, of the user or of the project.
    pub settings: PathBuf,
    /// The client's state file, in which MCP servers are registered.
    pub state: PathBuf,
    /// The project, if only one is meant. Its entries go into local files that are not shared.
    pub project: Option<PathBuf>,
}

impl ClientPaths {
    /// Finds the files. `None` if the home directory is unknown.
    pub fn find(env: impl Fn(&str) -> Option<OsString>, project: Option<PathBuf>) -> Option<Self> {
        let given = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let (dir, state) = match (given("CLAUDE_CONFIG_DIR"), given("HOME")) {
            (Some(dir), _) => (dir.clone(), dir.join(".claude.json")),
            (None, Some(home)) => (home.join(".claude"), home.join(".claude.json")),
            (None, None) => return None,
        };
        let settings = match &project {
            Some(project) => project.join(".claude/settings.local.json"),
            None => dir.join("settings.json"),
        };
        Some(Self { settings, state, project })
    }

    /// The user's files in a configuration directory of their own.
    pub fn in_directory(dir: &Path) -> Self {
        Self { settings: dir.join("settings.json"), state: dir.join(".claude.json"), project: None }
    }

    /// Reads the settings file.
    pub fn read_settings(&self) -> Result<ClientFile, ClientFileError> {
        ClientFile::read(&self.settings, CLIENT_SETTINGS_BYTES_MAX)
    }

    /// Reads the state file.
    pub fn read_state(&self) -> Result<ClientFile, ClientFileError> {
        ClientFile::read(&self.state, CLIENT_STATE_BYTES_MAX)
    }

    /// The project's path, as the state file spells it.
    pub fn project_name(&self) -> Option<String> {
        self.project.as_ref().map(|dir| dir.display().to_string())
    }
}

/// A planned change of one file.
#[derive(Clone, Debug)]
pub struct FileChange {
    pub part: InstallPart,
    pub file: ClientFile,
    pub project: Option<PathBuf>,
    /// The new text; `None` deletes the file.
    pub after: Option<String>,
    /// The text that `uninstall` will restore; `None` if there was no file.
    pub before: Option<String>,
    /// The backup of `before`, if there is one already.
    existing_backup: Option<PathBuf>,
    /// A recorded backup that cannot be read, and why.
    pub unreadable_backup: Option<String>,
    /// Entries of the earlier program that were disabled, now or before.
    adopted: LegacyEntries,
}

impl FileChange {
    /// A change in a file of an agent other than Claude Code.
    pub(super) fn of_agent(
        file: ClientFile,
        after: Option<String>,
        before: Option<String>,
        existing_backup: Option<PathBuf>,
    ) -> Self {
        Self {
            part: InstallPart::Hooks,
            file,
            project: None,
            after,
            before,
            existing_backup,
            unreadable_backup: None,
            adopted: LegacyEntries::default(),
        }
    }

    /// Writes the backup of the text from before, unless there is one already.
    pub(super) fn write_backup(
        &self,
        copies: &Path,
        stamp: &str,
    ) -> Result<Option<PathBuf>, ClientFileError> {
        match (&self.existing_backup, &self.before) {
            (Some(copy), _) => Ok(Some(copy.clone())),
            (None, Some(before)) => manifest::write_backup(copies, &self.file.path, stamp, before)
                .map(Some)
                .map_err(|source| ClientFileError::Io { path: copies.to_owned(), source }),
            (None, None) => Ok(None),
        }
    }

    /// Whether the text differs from the file.
    pub fn is_needed(&self) -> bool {
        self.after != self.file.text
    }
}

/// Something about the plan that the user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanRemark {
    /// Another MCP server has our name and keeps it.
    NameTaken,
}

/// The changes of an installation.
#[derive(Debug)]
pub struct ChangePlan {
    pub changes: Vec<FileChange>,
    pub remarks: Vec<PlanRemark>,
}

/// Plans an installation. With `adopt`, the earlier program of the same name is disabled as well.
pub fn plan_install(
    places: &ClientPaths,
    launch: &LaunchSpec,
    manifest: &InstallManifest,
    adopt: bool,
) -> Result<ChangePlan, ClientFileError> {
    let mut plan = ChangePlan { changes: Vec::new(), remarks: Vec::new() };
    let file = places.read_settings()?;
    let wanted = |text: &str| {
        let text = if adopt { legacy::disable_legacy(text)? } else { text.to_owned() };
        hooks::add_hooks(&text, launch)
    };
    let text = file.text.as_deref().unwrap_or_default();
    let disabled = if adopt { LegacyEntries::find(text) } else { Ok(LegacyEntries::default()) };
    let disabled = disabled.map_err(|reason| ClientFileError::unreadable(&file.path, reason))?;
    let after = wanted(text).map_err(|reason| ClientFileError::unreadable(&file.path, reason))?;
    let clean = |text: &str| hooks::remove_hooks(text, EntryOwner::Ours, None);
    let mut change = plan_file(InstallPart::Hooks, file, places, Some(after), manifest, clean)?;
    change.adopted.add(disabled);
    plan.changes.push(change);

    let file = places.read_state()?;
    let project = places.project_name();
    let text = file.text.as_deref().unwrap_or_default();
    match server::add_server(text, project.as_deref(), launch) {
        Ok(after) => {
            let clean = |text: &str| server::remove_server(text, project.as_deref(), None);
            plan.changes.push(plan_file(InstallPart::Server, file, places, Some(after), manifest, clean)?);
        }
        Err(ServerEditError::NameTaken) => plan.remarks.push(PlanRemark::NameTaken),
        Err(ServerEditError::Unreadable(reason)) => {
            return Err(ClientFileError::unreadable(&file.path, reason));
        }
    }
    for change in plan.changes.iter().filter(|change| change.is_needed()) {
        change.file.check_writable()?;
    }
    Ok(plan)
}

/// Plans the change of one file, and determines its text without our entries.
fn plan_file(
    part: InstallPart,
    file: ClientFile,
    places: &ClientPaths,
    after: Option<String>,
    manifest: &InstallManifest,
    clean: impl Fn(&str) -> Result<String, String>,
) -> Result<FileChange, ClientFileError> {
    let project = places.project.clone();
    let recorded = manifest.find(part, &file.path, project.as_deref());
    let adopted = recorded.map(|left| left.adopted.clone()).unwrap_or_default();
    let known = recorded.filter(|left| left.is_unchanged(file.text.as_deref()));
    let lost_copy = known.and_then(InstalledFile::unreadable_backup);
    let known = known.and_then(|left| Some((left.original_text().ok()?, left.before.clone())));
    let (before, copy) = match known {
        Some(known) => known,
        None => {
            let text = file.text.as_deref();
            let before = text.map(clean).transpose();
            (before.map_err(|reason| ClientFileError::unreadable(&file.path, reason))?, None)
        }
    };
    Ok(FileChange {
        part,
        file,
        project,
        after,
        before,
        existing_backup: copy,
        unreadable_backup: lost_copy,
        adopted,
    })
}

/// Plans the removal of our entries from one file.
pub fn plan_uninstall(left: &InstalledFile) -> Result<FileChange, ClientFileError> {
    let bytes_max = match left.part {
        InstallPart::Hooks => CLIENT_SETTINGS_BYTES_MAX,
        InstallPart::Server => CLIENT_STATE_BYTES_MAX,
    };
    let file = ClientFile::read(&left.path, bytes_max)?;
    let unreadable = |reason: String| ClientFileError::unreadable(&left.path, reason);
    // Without the backup our entries are still removed; only the exact bytes are lost.
    let before = left.original_text().ok();
    let after = match (&file.text, before) {
        (None, _) => None,
        (Some(_), Some(before)) if left.is_unchanged(file.text.as_deref()) => before,
        (Some(text), before) => {
            let was_made = matches!(before, Some(None));
            let before = before.flatten();
            let after = remove_ours(left, text, before.as_deref()).map_err(unreadable)?;
            // A file that we created and that is empty now can go.
            let is_bare = after.trim().is_empty() || after.trim() == "{}";
            (!(was_made && is_bare)).then_some(after)
        }
    };
    // The exact text from before may lack them: an install after the adoption took it.
    let after = after.map(|text| left.adopted.restore(&text)).transpose().map_err(unreadable)?;
    let change = FileChange {
        part: left.part,
        project: left.project.clone(),
        after,
        before: None,
        existing_backup: None,
        unreadable_backup: left.unreadable_backup(),
        adopted: LegacyEntries::default(),
        file,
    };
    if change.is_needed() {
        change.file.check_writable()?;
    }
    Ok(change)
}

fn remove_ours(left: &InstalledFile, text: &str, before: Option<&str>) -> Result<String, String> {
    match left.part {
        InstallPart::Hooks => hooks::remove_hooks(text, EntryOwner::Ours, before),
        InstallPart::Server => {
            let project = left.project.as_ref().map(|dir| dir.display().to_string());
            server::remove_server(text, project.as_deref(), before)
        }
    }
}

/// A recorded change: the file, whether it changes, and its backup.
#[derive(Clone, Debug)]
pub struct ChangeReport {
    pub part: InstallPart,
    pub path: PathBuf,
    pub changed: bool,
    /// The backup of the text from before.
    pub backup: Option<PathBuf>,
}

/// Writes backups into `copies` and records in the manifest what [`apply_all`] will write. The
/// manifest must reach the disk first: one that lists too much does no harm.
pub fn record_plan(
    plan: &ChangePlan,
    manifest: &mut InstallManifest,
    copies: &Path,
    stamp: &str,
) -> Result<Vec<ChangeReport>, ClientFileError> {
    let mut done = Vec::new();
    for change in &plan.changes {
        let backup = change.write_backup(copies, stamp)?;
        manifest.insert(InstalledFile {
            part: change.part,
            path: change.file.path.clone(),
            project: change.project.clone(),
            before: backup.clone(),
            sha256: manifest::content_hash(change.after.as_deref().unwrap_or_default()),
            adopted: change.adopted.clone(),
        });
        done.push(ChangeReport {
            part: change.part,
            path: change.file.path.clone(),
            changed: change.is_needed(),
            backup,
        });
    }
    Ok(done)
}

/// Writes all files or none. If the rollback fails too, the error lists the changed files.
pub fn apply_all(changes: &[FileChange]) -> Result<(), ClientFileError> {
    for (at, change) in changes.iter().enumerate() {
        if !change.is_needed() {
            continue;
        }
        if let Err(error) = change.file.replace(change.after.as_deref()) {
            let changed = changes[..at].iter().filter(|change| change.is_needed());
            let left: Vec<_> = changed
                .filter(|change| change.roll_back().is_err())
                .map(|change| change.file.path.clone())
                .collect();
            return Err(if left.is_empty() {
                error
            } else {
                ClientFileError::PartlyApplied { error: Box::new(error), changed: left }
            });
        }
    }
    Ok(())
}

impl FileChange {
    /// Restores the old text, if the file still is as we just wrote it.
    fn roll_back(&self) -> Result<(), ClientFileError> {
        let ours = self.file.with_text(self.after.clone());
        ours.replace(self.file.text.as_deref())
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
