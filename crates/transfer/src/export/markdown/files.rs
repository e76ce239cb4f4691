//! The folder of a Markdown export: writes changed files and removes stale ones.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::ExportError;

/// First bytes of every exported file, by which later exports recognise it.
pub(super) const FILE_MARKER: &str = "<!-- claude-mem";

/// Number of files by what the export did with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MarkdownExportReport {
    pub written: u64,
    pub unchanged: u64,
    pub removed: u64,
}

/// The target folder and the files written so far.
pub(super) struct ExportFolder {
    root: PathBuf,
    current_files: HashSet<PathBuf>,
    report: MarkdownExportReport,
}

impl ExportFolder {
    pub(super) fn open(root: &Path) -> Result<Self, ExportError> {
        std::fs::create_dir_all(root).map_err(|e| write_error(root, e))?;
        Ok(Self {
            root: root.to_owned(),
            current_files: HashSet::new(),
            report: MarkdownExportReport::default(),
        })
    }

    /// Writes a file, unless its contents are unchanged. Never overwrites a file that no export wrote.
    pub(super) fn write_file(&mut self, name: &str, text: &str) -> Result<(), ExportError> {
        let path = self.root.join(name);
        if let Some(above) = path.parent() {
            std::fs::create_dir_all(above).map_err(|e| write_error(above, e))?;
        }
        self.current_files.insert(path.clone());
        match std::fs::read(&path) {
            Ok(known) if known == text.as_bytes() => {
                self.report.unchanged += 1;
                return Ok(());
            }
            Ok(other) if !is_ours(&other) => {
                let error = io::Error::other("not written by an earlier export; left unchanged");
                return Err(write_error(&path, error));
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(write_error(&path, e)),
            Ok(_) => {}
        }
        let unfinished = path.with_extension("md.new");
        std::fs::write(&unfinished, text)
            .and_then(|()| std::fs::rename(&unfinished, &path))
            .map_err(|e| write_error(&path, e))?;
        self.report.written += 1;
        Ok(())
    }

    /// Finishes the export. With `all`, every row was exported, so other files of ours are stale and
    /// removed.
    pub(super) fn finish(mut self, all: bool) -> Result<MarkdownExportReport, ExportError> {
        if all {
            let mut folders = vec![(self.root.clone(), 0)];
            let mut emptied = Vec::new();
            while let Some((folder, depth)) = folders.pop() {
                let entries = std::fs::read_dir(&folder).map_err(|e| write_error(&folder, e))?;
                for entry in entries {
                    let path = entry.map_err(|e| write_error(&folder, e))?.path();
                    if path.is_dir() {
                        folders.extend((depth == 0).then_some((path, 1)));
                    } else if self.is_stale(&path).map_err(|e| write_error(&path, e))? {
                        std::fs::remove_file(&path).map_err(|e| write_error(&path, e))?;
                        self.report.removed += 1;
                        emptied.extend((depth == 1).then(|| folder.clone()));
                    }
                }
            }
            for folder in emptied {
                // Fails if the folder holds other files, which is intended.
                let _ = std::fs::remove_dir(folder);
            }
        }
        Ok(self.report)
    }

    fn is_stale(&self, path: &Path) -> io::Result<bool> {
        let is_page = path.extension().is_some_and(|ending| ending == "md");
        if !is_page || self.current_files.contains(path) {
            return Ok(false);
        }
        match std::fs::read(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            read => read.map(|text| is_ours(&text)),
        }
    }
}

fn is_ours(text: &[u8]) -> bool {
    text.starts_with(FILE_MARKER.as_bytes())
}

fn write_error(path: &Path, error: io::Error) -> ExportError {
    ExportError::Write(path.display().to_string(), error)
}

/// A portable file name: lower-case letters, digits and dashes.
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
    if slug.is_empty() { "unnamed".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
