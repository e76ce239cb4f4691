//! [`ClientFile`]: one file of the client, validated when read and replaced atomically.
//!
//! Invariant: a symlink stays a symlink and its target is replaced, permissions are kept, and a
//! file that changed since it was read is not overwritten.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Why a file was not read or changed. All but `PartlyApplied` mean that nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ClientFileError {
    #[error("{} is a broken link; nothing was changed", .0.display())]
    BrokenLink(PathBuf),
    #[error("{} is not a file; nothing was changed", .0.display())]
    NotAFile(PathBuf),
    #[error("{} is larger than {} MB, too large for settings; nothing was changed", path.display(), bytes_max >> 20)]
    TooLong { path: PathBuf, bytes_max: u64 },
    #[error("{} is not UTF-8 text; nothing was changed", .0.display())]
    NotText(PathBuf),
    #[error("{} cannot be parsed ({reason}); fix it and try again, nothing was changed", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("{} is read-only; nothing was changed", .0.display())]
    ReadOnly(PathBuf),
    #[error("{} is being changed by another program; try again, nothing was changed", .0.display())]
    ChangedMeanwhile(PathBuf),
    #[error("{}: {source}; nothing was changed", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// One of several files could not be written, and these could not be rolled back.
    #[error(
        "{}; already changed and not rolled back: {}; fix the cause and run it again",
        without_unchanged_note(error),
        join_paths(changed)
    )]
    PartlyApplied { error: Box<ClientFileError>, changed: Vec<PathBuf> },
}

fn without_unchanged_note(error: &ClientFileError) -> String {
    let text = error.to_string();
    let text = text.trim_end_matches("nothing was changed");
    text.trim_end_matches(['.', ',', ';', ' ']).to_owned()
}

fn join_paths(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    paths.join(", ")
}

impl ClientFileError {
    /// The file's content cannot be parsed, for this reason.
    pub fn unreadable(path: &Path, reason: impl Into<String>) -> Self {
        Self::Unreadable { path: path.to_owned(), reason: reason.into() }
    }
}

/// A file as it was read. It need not exist.
#[derive(Clone, Debug)]
pub struct ClientFile {
    /// The path that the client uses.
    pub path: PathBuf,
    /// The path with symlinks resolved.
    target: PathBuf,
    pub text: Option<String>,
    mode: u32,
}

/// Mode of new files: readable by the owner only, because such a file may hold keys.
const MODE_NEW: u32 = 0o600;

impl ClientFile {
    /// Reads a file. A missing file has no text.
    pub fn read(path: &Path, bytes_max: u64) -> Result<Self, ClientFileError> {
        let target = resolve(path)?;
        let mut found = Self { path: path.to_owned(), target, text: None, mode: MODE_NEW };
        let meta = match fs::metadata(&found.target) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(found),
            meta => meta.map_err(|e| found.io(e))?,
        };
        if !meta.is_file() {
            return Err(ClientFileError::NotAFile(path.to_owned()));
        }
        found.mode = meta.mode() & 0o7777;
        found.text = Some(read_text(path, &found.target, bytes_max)?);
        Ok(found)
    }

    /// The same file with another text.
    #[must_use]
    pub fn with_text(&self, text: Option<String>) -> Self {
        Self { text, ..self.clone() }
    }

    fn io(&self, source: io::Error) -> ClientFileError {
        let path = self.path.clone();
        match source.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => ClientFileError::ReadOnly(path),
            _ => ClientFileError::Io { path, source },
        }
    }

    /// Fails if the file is read-only. The owner's permission bit counts even for root, who could
    /// write all the same.
    pub fn check_writable(&self) -> Result<(), ClientFileError> {
        if self.text.is_some() && self.mode & 0o200 == 0 {
            return Err(ClientFileError::ReadOnly(self.path.clone()));
        }
        Ok(())
    }

    /// Replaces the text; `None` deletes the file.
    pub fn replace(&self, text: Option<&str>) -> Result<(), ClientFileError> {
        self.check_writable()?;
        if self.is_changed()? {
            return Err(ClientFileError::ChangedMeanwhile(self.path.clone()));
        }
        let Some(text) = text else {
            return self.remove();
        };
        if let Some(dir) = self.target.parent() {
            fs::create_dir_all(dir).map_err(|e| self.io(e))?;
        }
        let unfinished = self.temp_path();
        let written = self.write_new(&unfinished, text).and_then(|()| fs::rename(&unfinished, &self.target));
        written.map_err(|e| {
            // The first error is the one to report; the temporary file may not exist.
            let _ = fs::remove_file(&unfinished);
            self.io(e)
        })
    }

    fn remove(&self) -> Result<(), ClientFileError> {
        match fs::remove_file(&self.target) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(self.io(e)),
            _ => {}
        }
        let is_made = |name: &std::ffi::OsStr| name == ".claude" || name == "plugin";
        let dir = self.target.parent().filter(|dir| dir.file_name().is_some_and(is_made));
        if let Some(dir) = dir {
            // Created for this file, unless it contains something else by now.
            let _ = fs::remove_dir(dir);
        }
        Ok(())
    }

    fn is_changed(&self) -> Result<bool, ClientFileError> {
        let now = match fs::read(&self.target) {
            Ok(bytes) => Some(bytes),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(self.io(e)),
        };
        Ok(now.as_deref() != self.text.as_ref().map(String::as_bytes))
    }

    fn temp_path(&self) -> PathBuf {
        let name = self.target.file_name().unwrap_or_default().to_string_lossy();
        self.target.with_file_name(format!(".{name}.claude-mem-{}", std::process::id()))
    }

    fn write_new(&self, path: &Path, text: &str) -> io::Result<()> {
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(self.mode).open(path)?;
        file.set_permissions(fs::Permissions::from_mode(self.mode))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }
}

/// Resolves symlinks. A missing file resolves to itself.
fn resolve(path: &Path) -> Result<PathBuf, ClientFileError> {
    match path.canonicalize() {
        Ok(target) => Ok(target),
        Err(_) if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) => {
            Err(ClientFileError::BrokenLink(path.to_owned()))
        }
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(path.to_owned()),
        Err(source) => Err(ClientFileError::Io { path: path.to_owned(), source }),
    }
}

fn read_text(path: &Path, target: &Path, bytes_max: u64) -> Result<String, ClientFileError> {
    let io = |source| ClientFileError::Io { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let file = File::open(target).map_err(io)?;
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > bytes_max {
        let path = path.to_owned();
        return Err(ClientFileError::TooLong { path, bytes_max });
    }
    String::from_utf8(bytes).map_err(|_| ClientFileError::NotText(path.to_owned()))
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
