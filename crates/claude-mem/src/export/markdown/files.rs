//! The folder that Markdown is written into.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::ExportError;
use super::page::MARK;

/// What was done in the folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Done {
    pub written: u64,
    pub unchanged: u64,
    pub removed: u64,
}

pub(super) struct Folder {
    root: PathBuf,
    kept: HashSet<PathBuf>,
    done: Done,
}

impl Folder {
    pub(super) fn open(root: &Path) -> Result<Self, ExportError> {
        std::fs::create_dir_all(root).map_err(|e| unwritable(root, e))?;
        Ok(Self {
            root: root.to_owned(),
            kept: HashSet::new(),
            done: Done::default(),
        })
    }

    /// Writes a file, unless it says just that. One that is not ours is not written over.
    pub(super) fn put(&mut self, name: &str, text: &str) -> Result<(), ExportError> {
        let path = self.root.join(name);
        if let Some(above) = path.parent() {
            std::fs::create_dir_all(above).map_err(|e| unwritable(above, e))?;
        }
        self.kept.insert(path.clone());
        match std::fs::read(&path) {
            Ok(known) if known == text.as_bytes() => {
                self.done.unchanged += 1;
                return Ok(());
            }
            Ok(other) if !is_ours(&other) => {
                let error =
                    io::Error::other("is not a file of an earlier export, and was left alone");
                return Err(unwritable(&path, error));
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(unwritable(&path, e)),
            Ok(_) => {}
        }
        let unfinished = path.with_extension("md.new");
        std::fs::write(&unfinished, text)
            .and_then(|()| std::fs::rename(&unfinished, &path))
            .map_err(|e| unwritable(&path, e))?;
        self.done.written += 1;
        Ok(())
    }

    /// `all`: everything was written, so what was not is remembered no more.
    pub(super) fn finish(mut self, all: bool) -> Result<Done, ExportError> {
        if all {
            let mut folders = vec![(self.root.clone(), 0)];
            let mut emptied = Vec::new();
            while let Some((folder, depth)) = folders.pop() {
                let entries = std::fs::read_dir(&folder).map_err(|e| unwritable(&folder, e))?;
                for entry in entries {
                    let path = entry.map_err(|e| unwritable(&folder, e))?.path();
                    if path.is_dir() {
                        folders.extend((depth == 0).then_some((path, 1)));
                    } else if self.is_stale(&path).map_err(|e| unwritable(&path, e))? {
                        std::fs::remove_file(&path).map_err(|e| unwritable(&path, e))?;
                        self.done.removed += 1;
                        emptied.extend((depth == 1).then(|| folder.clone()));
                    }
                }
            }
            for folder in emptied {
                // One that holds something of somebody's stays.
                let _ = std::fs::remove_dir(folder);
            }
        }
        Ok(self.done)
    }

    fn is_stale(&self, path: &Path) -> io::Result<bool> {
        let is_page = path.extension().is_some_and(|ending| ending == "md");
        if !is_page || self.kept.contains(path) {
            return Ok(false);
        }
        match std::fs::read(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            read => read.map(|text| is_ours(&text)),
        }
    }
}

fn is_ours(text: &[u8]) -> bool {
    text.starts_with(MARK.as_bytes())
}

fn unwritable(path: &Path, error: io::Error) -> ExportError {
    ExportError::Write(path.display().to_string(), error)
}

/// A name that every file system takes: lower-case letters, digits and dashes.
pub(super) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars().take(60) {
        if c.is_alphanumeric() {
            slug.extend(c.to_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() {
        "unnamed".to_owned()
    } else {
        slug.to_owned()
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
