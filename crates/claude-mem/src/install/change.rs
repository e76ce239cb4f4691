//! From what stands in the client's files to what should: first planned, then done.
//!
//! Invariant: everything is read and understood before the first file is written; if a later file
//! cannot be written, the earlier ones get their text back.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::entry::{Launch, Whose};
use super::file::{ClientFile, FileError};
use super::receipt::{self, Left, Part, Receipt};
use super::server::Refused;
use super::{hooks, rival, server};
use crate::limits::{CLIENT_SETTINGS_BYTES_MAX, CLIENT_STATE_BYTES_MAX};

/// Where a client keeps its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The user's settings.
    pub settings: PathBuf,
    /// The client's own state, where servers are registered.
    pub state: PathBuf,
    /// The project, if only that is meant. What is written for it stays on this machine.
    pub project: Option<PathBuf>,
}

impl Places {
    /// `None`: there is no home.
    pub fn find(env: impl Fn(&str) -> Option<OsString>, project: Option<PathBuf>) -> Option<Self> {
        let given = |name| {
            env(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let (dir, state) = match (given("CLAUDE_CONFIG_DIR"), given("HOME")) {
            (Some(dir), _) => (dir.clone(), dir.join(".claude.json")),
            (None, Some(home)) => (home.join(".claude"), home.join(".claude.json")),
            (None, None) => return None,
        };
        let settings = match &project {
            Some(project) => project.join(".claude/settings.local.json"),
            None => dir.join("settings.json"),
        };
        Some(Self {
            settings,
            state,
            project,
        })
    }

    pub fn read_settings(&self) -> Result<ClientFile, FileError> {
        ClientFile::read(&self.settings, CLIENT_SETTINGS_BYTES_MAX)
    }

    pub fn read_state(&self) -> Result<ClientFile, FileError> {
        ClientFile::read(&self.state, CLIENT_STATE_BYTES_MAX)
    }

    pub fn project_name(&self) -> Option<String> {
        self.project.as_ref().map(|dir| dir.display().to_string())
    }
}

/// What is to be done to one file.
#[derive(Clone, Debug)]
pub struct Change {
    pub part: Part,
    pub file: ClientFile,
    pub project: Option<PathBuf>,
    /// `None`: the file goes.
    pub after: Option<String>,
    /// What `uninstall` will give back; `None`: there was no file.
    pub before: Option<String>,
    /// The copy of `before` that is there already.
    copy: Option<PathBuf>,
    /// A copy of what stood there before that is noted and cannot be read, and why.
    pub lost_copy: Option<String>,
}

impl Change {
    pub fn is_needed(&self) -> bool {
        self.after != self.file.text
    }
}

/// Something about the plan that people should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// Another server has our name and keeps it.
    NameTaken,
}

#[derive(Debug)]
pub struct Plan {
    pub changes: Vec<Change>,
    pub remarks: Vec<Remark>,
}

/// What installing changes. With `adopt` the earlier program is switched off as well.
pub fn to_install(
    places: &Places,
    launch: &Launch,
    receipt: &Receipt,
    adopt: bool,
) -> Result<Plan, FileError> {
    let mut plan = Plan {
        changes: Vec::new(),
        remarks: Vec::new(),
    };
    let file = places.read_settings()?;
    let wanted = |text: &str| {
        let text = if adopt {
            rival::switched_off(text)?
        } else {
            text.to_owned()
        };
        hooks::with(&text, launch)
    };
    let text = file.text.as_deref().unwrap_or_default();
    let after = wanted(text).map_err(|reason| FileError::unreadable(&file.path, reason))?;
    let clean = |text: &str| hooks::without(text, Whose::Ours, None);
    plan.changes.push(change(
        Part::Hooks,
        file,
        places,
        Some(after),
        receipt,
        clean,
    )?);

    let file = places.read_state()?;
    let project = places.project_name();
    let text = file.text.as_deref().unwrap_or_default();
    match server::with(text, project.as_deref(), launch) {
        Ok(after) => {
            let clean = |text: &str| server::without(text, project.as_deref(), None);
            plan.changes.push(change(
                Part::Server,
                file,
                places,
                Some(after),
                receipt,
                clean,
            )?);
        }
        Err(Refused::Taken) => plan.remarks.push(Remark::NameTaken),
        Err(Refused::Unreadable(reason)) => return Err(FileError::unreadable(&file.path, reason)),
    }
    for change in plan.changes.iter().filter(|change| change.is_needed()) {
        change.file.check_writable()?;
    }
    Ok(plan)
}

/// Finds out what the file was like without us.
fn change(
    part: Part,
    file: ClientFile,
    places: &Places,
    after: Option<String>,
    receipt: &Receipt,
    clean: impl Fn(&str) -> Result<String, String>,
) -> Result<Change, FileError> {
    let project = places.project.clone();
    let known = receipt.of(part, &file.path, project.as_deref());
    let known = known.filter(|left| left.is_untouched(file.text.as_deref()));
    let lost_copy = known.and_then(Left::lost_copy);
    let known = known.and_then(|left| Some((left.text_before().ok()?, left.before.clone())));
    let (before, copy) = match known {
        Some(known) => known,
        None => {
            let text = file.text.as_deref();
            let before = text.map(clean).transpose();
            (
                before.map_err(|reason| FileError::unreadable(&file.path, reason))?,
                None,
            )
        }
    };
    Ok(Change {
        part,
        file,
        project,
        after,
        before,
        copy,
        lost_copy,
    })
}

/// What uninstalling changes, in one file.
pub fn to_uninstall(left: &Left) -> Result<Change, FileError> {
    let bytes_max = match left.part {
        Part::Hooks => CLIENT_SETTINGS_BYTES_MAX,
        Part::Server => CLIENT_STATE_BYTES_MAX,
    };
    let file = ClientFile::read(&left.path, bytes_max)?;
    let unreadable = |reason: String| FileError::unreadable(&left.path, reason);
    // A copy that is gone only costs the exact bytes.
    let before = left.text_before().ok();
    let after = match (&file.text, before) {
        (None, _) => None,
        (Some(_), Some(before)) if left.is_untouched(file.text.as_deref()) => before,
        (Some(text), before) => {
            let was_made = matches!(before, Some(None));
            let before = before.flatten();
            let after = without(left, text, before.as_deref()).map_err(unreadable)?;
            // Nothing but an empty object in a file that we made: nobody will miss it.
            let is_bare = after.trim().is_empty() || after.trim() == "{}";
            (!(was_made && is_bare)).then_some(after)
        }
    };
    let change = Change {
        part: left.part,
        project: left.project.clone(),
        after,
        before: None,
        copy: None,
        lost_copy: left.lost_copy(),
        file,
    };
    if change.is_needed() {
        change.file.check_writable()?;
    }
    Ok(change)
}

fn without(left: &Left, text: &str, before: Option<&str>) -> Result<String, String> {
    match left.part {
        Part::Hooks => hooks::without(text, Whose::Ours, before),
        Part::Server => {
            let project = left.project.as_ref().map(|dir| dir.display().to_string());
            server::without(text, project.as_deref(), before)
        }
    }
}

/// A change that is about to be made.
#[derive(Clone, Debug)]
pub struct Done {
    pub part: Part,
    pub path: PathBuf,
    pub changed: bool,
    /// The copy of what stood there before.
    pub backup: Option<PathBuf>,
}

/// Keeps copies in `copies` and notes in the receipt what `write_all` will leave. The receipt is to
/// be on disk first: one that says too much does no harm.
pub fn note(
    plan: &Plan,
    receipt: &mut Receipt,
    copies: &Path,
    stamp: &str,
) -> Result<Vec<Done>, FileError> {
    let mut done = Vec::new();
    for change in &plan.changes {
        let backup = match (&change.copy, &change.before) {
            (Some(copy), _) => Some(copy.clone()),
            (None, Some(before)) => Some(
                receipt::keep_copy(copies, &change.file.path, stamp, before).map_err(|source| {
                    FileError::Io {
                        path: copies.to_owned(),
                        source,
                    }
                })?,
            ),
            (None, None) => None,
        };
        receipt.put(Left {
            part: change.part,
            path: change.file.path.clone(),
            project: change.project.clone(),
            before: backup.clone(),
            sha256: receipt::hash(change.after.as_deref().unwrap_or_default()),
        });
        done.push(Done {
            part: change.part,
            path: change.file.path.clone(),
            changed: change.is_needed(),
            backup,
        });
    }
    Ok(done)
}

/// Writes all of them or none; if even that cannot be, says which are written.
pub fn write_all(changes: &[Change]) -> Result<(), FileError> {
    for (at, change) in changes.iter().enumerate() {
        if !change.is_needed() {
            continue;
        }
        if let Err(error) = change.file.replace(change.after.as_deref()) {
            let changed = changes[..at].iter().filter(|change| change.is_needed());
            let left: Vec<_> = changed
                .filter(|change| change.give_back().is_err())
                .map(|change| change.file.path.clone())
                .collect();
            return Err(if left.is_empty() {
                error
            } else {
                FileError::HalfDone {
                    error: Box::new(error),
                    left,
                }
            });
        }
    }
    Ok(())
}

impl Change {
    /// Only if the file is still what we wrote a moment ago.
    fn give_back(&self) -> Result<(), FileError> {
        let ours = self.file.holding(self.after.clone());
        ours.replace(self.file.text.as_deref())
    }
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
