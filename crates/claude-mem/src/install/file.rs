//! One file of the client's: read with suspicion, replaced in one step.
//!
//! A link stays a link and its target is replaced; permissions stay; a file that somebody changed
//! since it was read is not overwritten.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Why a file was not read or not changed. All but `HalfDone` mean that nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{} is a link that leads nowhere; nothing was changed", .0.display())]
    LeadsNowhere(PathBuf),
    #[error("{} is not a file; nothing was changed", .0.display())]
    NotAFile(PathBuf),
    #[error("{} is larger than {} MB, which no settings are; nothing was changed", path.display(), bytes_max >> 20)]
    TooLong { path: PathBuf, bytes_max: u64 },
    #[error("{} is not text; nothing was changed", .0.display())]
    NotText(PathBuf),
    #[error("{} cannot be understood ({reason}); mend it and try again, nothing was changed", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("{} is read-only; nothing was changed", .0.display())]
    ReadOnly(PathBuf),
    #[error("{} is being changed by another program; try again, nothing was changed", .0.display())]
    Changing(PathBuf),
    #[error("{}: {source}; nothing was changed", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// One of several files could not be written, and these could not be given back.
    #[error(
        "{}; changed already, and not to be given back: {}; mend what is wrong and run it again",
        without_promise(error),
        listed(left)
    )]
    HalfDone {
        error: Box<FileError>,
        left: Vec<PathBuf>,
    },
}

fn without_promise(error: &FileError) -> String {
    let text = error.to_string();
    let text = text.trim_end_matches("nothing was changed");
    text.trim_end_matches(['.', ',', ';', ' ']).to_owned()
}

fn listed(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    paths.join(", ")
}

impl FileError {
    pub fn unreadable(path: &Path, reason: impl Into<String>) -> Self {
        Self::Unreadable {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }
}

/// A file as it was read. It need not be there.
#[derive(Clone, Debug)]
pub struct ClientFile {
    /// As the client calls it.
    pub path: PathBuf,
    /// Where the bytes are, links followed.
    target: PathBuf,
    pub text: Option<String>,
    mode: u32,
}

/// For its owner alone: such a file may hold keys.
const MODE_NEW: u32 = 0o600;

impl ClientFile {
    pub fn read(path: &Path, bytes_max: u64) -> Result<Self, FileError> {
        let target = resolve(path)?;
        let mut found = Self {
            path: path.to_owned(),
            target,
            text: None,
            mode: MODE_NEW,
        };
        let meta = match fs::metadata(&found.target) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(found),
            meta => meta.map_err(|e| found.io(e))?,
        };
        if !meta.is_file() {
            return Err(FileError::NotAFile(path.to_owned()));
        }
        found.mode = meta.mode() & 0o7777;
        found.text = Some(read_text(path, &found.target, bytes_max)?);
        Ok(found)
    }

    /// The same file once it holds this text.
    #[must_use]
    pub fn holding(&self, text: Option<String>) -> Self {
        Self {
            text,
            ..self.clone()
        }
    }

    fn io(&self, source: io::Error) -> FileError {
        let path = self.path.clone();
        match source.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                FileError::ReadOnly(path)
            }
            _ => FileError::Io { path, source },
        }
    }

    /// Whether `replace` may be tried. The owner's own bit counts even for those whom the system
    /// lets write anything.
    pub fn check_writable(&self) -> Result<(), FileError> {
        if self.text.is_some() && self.mode & 0o200 == 0 {
            return Err(FileError::ReadOnly(self.path.clone()));
        }
        Ok(())
    }

    /// Puts other text in its place; `None` takes the file away.
    pub fn replace(&self, text: Option<&str>) -> Result<(), FileError> {
        self.check_writable()?;
        if self.is_changed()? {
            return Err(FileError::Changing(self.path.clone()));
        }
        let Some(text) = text else {
            return self.remove();
        };
        if let Some(dir) = self.target.parent() {
            fs::create_dir_all(dir).map_err(|e| self.io(e))?;
        }
        let unfinished = self.neighbour();
        let written = self
            .write_new(&unfinished, text)
            .and_then(|()| fs::rename(&unfinished, &self.target));
        written.map_err(|e| {
            // The first error is the one to report; a file that was never made cannot be removed.
            let _ = fs::remove_file(&unfinished);
            self.io(e)
        })
    }

    fn remove(&self) -> Result<(), FileError> {
        match fs::remove_file(&self.target) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(self.io(e)),
            _ => {}
        }
        let dir = self
            .target
            .parent()
            .filter(|dir| dir.file_name() == Some(".claude".as_ref()));
        if let Some(dir) = dir {
            // Made for this file, unless something else is in it by now.
            let _ = fs::remove_dir(dir);
        }
        Ok(())
    }

    fn is_changed(&self) -> Result<bool, FileError> {
        let now = match fs::read(&self.target) {
            Ok(bytes) => Some(bytes),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(self.io(e)),
        };
        Ok(now.as_deref() != self.text.as_ref().map(String::as_bytes))
    }

    fn neighbour(&self) -> PathBuf {
        let name = self
            .target
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        self.target
            .with_file_name(format!(".{name}.claude-mem-{}", std::process::id()))
    }

    fn write_new(&self, path: &Path, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(self.mode)
            .open(path)?;
        file.set_permissions(fs::Permissions::from_mode(self.mode))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }
}

/// Where the links lead. A file that is not there leads to itself.
fn resolve(path: &Path) -> Result<PathBuf, FileError> {
    match path.canonicalize() {
        Ok(target) => Ok(target),
        Err(_) if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) => {
            Err(FileError::LeadsNowhere(path.to_owned()))
        }
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(path.to_owned()),
        Err(source) => Err(FileError::Io {
            path: path.to_owned(),
            source,
        }),
    }
}

fn read_text(path: &Path, target: &Path, bytes_max: u64) -> Result<String, FileError> {
    let io = |source| FileError::Io {
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    let file = File::open(target).map_err(io)?;
    file.take(bytes_max + 1)
        .read_to_end(&mut bytes)
        .map_err(io)?;
    if bytes.len() as u64 > bytes_max {
        let path = path.to_owned();
        return Err(FileError::TooLong { path, bytes_max });
    }
    String::from_utf8(bytes).map_err(|_| FileError::NotText(path.to_owned()))
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
