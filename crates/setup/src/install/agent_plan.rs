//! [`AgentPlan`]: the changes in the files of one agent other than Claude Code, to install and to uninstall.
//!
//! Invariant: as for Claude Code, a file that still is as we left it is restored byte for byte, and from any
//! other file only our entries are removed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::agent_entries::{self, AgentLaunch};
use super::file::{ClientFile, ClientFileError};
use super::manifest;
use super::manifest::{AgentFileRecord, AgentInstallation};
use super::plan::FileChange;
use super::server::ServerEditError;
use crate::limits::CLIENT_SETTINGS_BYTES_MAX;
use claude_mem_core::agents::{ClientEntries, ClientFileSpec, CodingAgent};

/// The changes in an agent's files.
#[derive(Debug)]
pub struct AgentPlan {
    pub agent: &'static CodingAgent,
    pub changes: Vec<FileChange>,
    /// Files with an entry of another program under our name, which were left alone.
    pub taken: Vec<PathBuf>,
}

/// A file of an agent with everything that we write into it.
#[derive(Debug)]
pub struct AgentFile {
    pub path: PathBuf,
    pub entries: Vec<&'static ClientEntries>,
}

/// The files of an agent, in the order of its description. `None` if the home directory is unknown.
pub fn agent_files(
    agent: &'static CodingAgent,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Option<Vec<AgentFile>> {
    let mut files: Vec<AgentFile> = Vec::new();
    for spec in agent.files {
        let path = file_path(spec, env)?;
        match files.iter_mut().find(|file| file.path == path) {
            Some(file) => file.entries.push(&spec.entries),
            None => files.push(AgentFile { path, entries: vec![&spec.entries] }),
        }
    }
    Some(files)
}

fn file_path(spec: &ClientFileSpec, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let dir = spec.directory.resolve(env)?;
    let mut paths = spec.names.iter().map(|name| dir.join(name));
    let first = paths.next()?;
    if first.exists() {
        return Some(first);
    }
    Some(paths.find(|path| path.exists()).unwrap_or(first))
}

impl AgentPlan {
    /// Plans the registration with an agent. Nothing is written.
    pub fn install(
        launch: &AgentLaunch<'_>,
        files: &[AgentFile],
        recorded: Option<&AgentInstallation>,
    ) -> Result<Self, ClientFileError> {
        let mut plan = Self { agent: launch.agent, changes: Vec::new(), taken: Vec::new() };
        for file in files {
            let read = ClientFile::read(&file.path, CLIENT_SETTINGS_BYTES_MAX)?;
            let mut after = read.text.clone().unwrap_or_default();
            for entries in &file.entries {
                match launch.add(&after, entries) {
                    Ok(text) => after = text,
                    Err(ServerEditError::NameTaken) => plan.taken.push(file.path.clone()),
                    Err(ServerEditError::Unreadable(reason)) => {
                        return Err(ClientFileError::unreadable(&file.path, reason));
                    }
                }
            }
            let (before, backup) = text_before(&read, file, recorded)?;
            let after = (read.text.is_some() || !after.is_empty()).then_some(after);
            let change = FileChange::of_agent(read, after, before, backup);
            if change.is_needed() {
                change.file.check_writable()?;
            }
            plan.changes.push(change);
        }
        Ok(plan)
    }

    /// Plans the removal of our entries from an agent's files, those in the manifest and those in `files`.
    pub fn uninstall(
        agent: &'static CodingAgent,
        files: &[AgentFile],
        recorded: Option<&AgentInstallation>,
    ) -> Result<Self, ClientFileError> {
        let mut plan = Self { agent, changes: Vec::new(), taken: Vec::new() };
        let known = recorded.map_or(&[][..], |installation| &installation.files);
        let elsewhere = known.iter().filter(|left| !files.iter().any(|file| file.path == left.path));
        let all_entries: Vec<&'static ClientEntries> = agent.files.iter().map(|spec| &spec.entries).collect();
        let paths = files.iter().map(|file| (&file.path, &file.entries));
        for (path, entries) in paths.chain(elsewhere.map(|left| (&left.path, &all_entries))) {
            let read = ClientFile::read(path, CLIENT_SETTINGS_BYTES_MAX)?;
            let left = known.iter().find(|left| left.path == *path);
            let after = restored_text(&read, entries, left)?;
            let change = FileChange::of_agent(read, after, None, None);
            if change.is_needed() {
                change.file.check_writable()?;
            }
            plan.changes.push(change);
        }
        Ok(plan)
    }

    /// Writes backups into `copies` and returns the record of what the plan will write.
    pub fn record(&self, copies: &Path, stamp: &str) -> Result<AgentInstallation, ClientFileError> {
        let mut files = Vec::new();
        for change in &self.changes {
            let before = change.write_backup(copies, stamp)?;
            let sha256 = manifest::content_hash(change.after.as_deref().unwrap_or_default());
            files.push(AgentFileRecord { path: change.file.path.clone(), before, sha256 });
        }
        Ok(AgentInstallation { agent: self.agent.name.to_owned(), files })
    }

    /// Whether a file differs from what the plan wants.
    pub fn is_needed(&self) -> bool {
        self.changes.iter().any(FileChange::is_needed)
    }
}

/// The text that uninstall will restore, and its backup if there is one already.
fn text_before(
    read: &ClientFile,
    file: &AgentFile,
    recorded: Option<&AgentInstallation>,
) -> Result<(Option<String>, Option<PathBuf>), ClientFileError> {
    let left =
        recorded.and_then(|installation| installation.files.iter().find(|left| left.path == file.path));
    let left = left.filter(|left| left.is_unchanged(read.text.as_deref()));
    if let Some((Ok(before), left)) = left.map(|left| (left.original_text(), left)) {
        return Ok((before, left.before.clone()));
    }
    match &read.text {
        None => Ok((None, None)),
        Some(text) => {
            let bare = without_entries(text, &file.entries, None)
                .map_err(|reason| ClientFileError::unreadable(&file.path, reason))?;
            let is_own = matches!(file.entries[..], [ClientEntries::OwnFile { .. }]);
            Ok(((!(is_own && bare.is_empty())).then_some(bare), None))
        }
    }
}

fn without_entries(
    text: &str,
    entries: &[&'static ClientEntries],
    before: Option<&str>,
) -> Result<String, String> {
    let mut left = text.to_owned();
    for entries in entries {
        left = agent_entries::remove_entries(&left, entries, before)?;
    }
    Ok(left)
}

/// The text after an uninstallation; `None` deletes the file.
fn restored_text(
    read: &ClientFile,
    entries: &[&'static ClientEntries],
    left: Option<&AgentFileRecord>,
) -> Result<Option<String>, ClientFileError> {
    let Some(text) = &read.text else {
        return Ok(None);
    };
    // Without the backup our entries are still removed; only the exact bytes are lost.
    let before = left.and_then(|left| left.original_text().ok());
    if let (Some(left), Some(before)) = (left, &before)
        && left.is_unchanged(Some(text))
    {
        return Ok(before.clone());
    }
    let was_made = matches!(before, Some(None));
    let after = without_entries(text, entries, before.flatten().as_deref())
        .map_err(|reason| ClientFileError::unreadable(&read.path, reason))?;
    let is_own = matches!(entries, [ClientEntries::OwnFile { .. }]) && after != *text;
    let is_bare = after.trim().is_empty() || after.trim() == "{}";
    Ok((!((was_made || is_own) && is_bare)).then_some(after))
}

#[cfg(test)]
#[path = "agent_plan_tests.rs"]
mod tests;
