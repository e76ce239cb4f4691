//! What was done to the client's files, so that it can be undone.
//!
//! For each file the receipt knows the hash of what we left there and where a copy of what stood
//! there before is. A file that still has that hash is given back byte for byte.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::paths;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Ours, when it was written.
    #[serde(default)]
    pub version: String,
    #[serde(default)]
    pub executable: PathBuf,
    /// The client's, as far as it was known.
    #[serde(default)]
    pub client: Option<String>,
    #[serde(default)]
    pub files: Vec<Left>,
    /// Whether the plugin was installed instead of hooks.
    #[serde(default)]
    pub plugin: bool,
}

/// What we put into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    Hooks,
    Server,
}

/// A file as we left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    pub part: Part,
    pub path: PathBuf,
    /// The project whose settings these are; `None` for the user's.
    #[serde(default)]
    pub project: Option<PathBuf>,
    /// The copy of what stood there before; `None` if there was no file.
    #[serde(default)]
    pub before: Option<PathBuf>,
    pub sha256: String,
}

impl Receipt {
    /// One that is not there is empty. One that cannot be read is an error: who went on without it
    /// would leave hooks in projects that only it knows of, and write over it.
    pub fn read(path: &Path) -> io::Result<Self> {
        let read = match std::fs::read(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            read => read.and_then(|text| Ok(serde_json::from_slice(&text)?)),
        };
        read.map_err(|e| {
            let path = path.display();
            let help = "make it yours (`ls -l` tells whose it is), or move it away and install again: then only the usual places are looked at";
            io::Error::new(e.kind(), format!("what was installed cannot be read: {path}: {e}; {help}"))
        })
    }

    pub fn write(&self, path: &Path) -> io::Result<()> {
        paths::replace_file(path, &serde_json::to_vec_pretty(self)?)
    }

    pub fn of(&self, part: Part, path: &Path, project: Option<&Path>) -> Option<&Left> {
        self.files.iter().find(|left| left.is(part, path, project))
    }

    pub fn put(&mut self, left: Left) {
        self.take(left.part, &left.path, left.project.as_deref());
        self.files.push(left);
    }

    pub fn take(&mut self, part: Part, path: &Path, project: Option<&Path>) {
        self.files.retain(|left| !left.is(part, path, project));
    }
}

impl Left {
    /// A file that nobody noted: what is ours in it is found by looking.
    pub fn unknown(part: Part, path: PathBuf, project: Option<PathBuf>) -> Self {
        Self {
            part,
            // No such copy can be read, so it is not known what stood there.
            before: Some(PathBuf::new()),
            path,
            project,
            sha256: String::new(),
        }
    }

    fn is(&self, part: Part, path: &Path, project: Option<&Path>) -> bool {
        self.part == part && self.path == path && self.project.as_deref() == project
    }

    /// Whether the file is still what we left.
    pub fn is_untouched(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| hash(text) == self.sha256)
    }

    /// The copy of what stood there before, if one was noted and cannot be read, and why.
    pub fn lost_copy(&self) -> Option<String> {
        let copy = self.before.as_ref();
        let copy = copy.filter(|copy| !copy.as_os_str().is_empty())?;
        let error = self.text_before().err()?;
        Some(format!("{}: {error}", copy.display()))
    }

    /// The text from before: `Ok(None)` if there was no file.
    pub fn text_before(&self) -> io::Result<Option<String>> {
        self.before
            .as_ref()
            .map(std::fs::read_to_string)
            .transpose()
    }
}

pub fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let mut hex = String::with_capacity(64);
    for byte in digest {
        hex.push_str(&format!("{byte:02x}"));
    }
    hex
}

/// Keeps a copy under a name of its own. `stamp` sorts by time.
pub fn keep_copy(dir: &Path, path: &Path, stamp: &str, text: &str) -> io::Result<PathBuf> {
    use std::io::Write as _;
    paths::create_dir(dir)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.trim_start_matches('.');
    for attempt in 1.. {
        let suffix = if attempt == 1 {
            String::new()
        } else {
            format!("-{attempt}")
        };
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
    fn a_receipt_comes_back_as_it_was_and_a_torn_one_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("installed.json");
        assert_eq!(Receipt::read(&path).unwrap(), Receipt::default());
        let mut receipt = Receipt::default();
        receipt.put(Left {
            part: Part::Hooks,
            path: "/a".into(),
            project: None,
            before: None,
            sha256: hash("x"),
        });
        receipt.write(&path).unwrap();
        assert_eq!(Receipt::read(&path).unwrap(), receipt);
        assert!(
            receipt
                .of(Part::Hooks, Path::new("/a"), None)
                .unwrap()
                .is_untouched(Some("x"))
        );
        std::fs::write(&path, "{\"version\": \"0.").unwrap();
        let torn = Receipt::read(&path).unwrap_err();
        assert!(torn.to_string().contains("installed.json"), "{torn}");
    }

    #[test]
    fn copies_of_one_second_do_not_overwrite_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let keep = |text| {
            keep_copy(
                dir.path(),
                Path::new("/h/.claude.json"),
                "20260131T100000Z",
                text,
            )
        };
        let (first, second) = (keep("1").unwrap(), keep("2").unwrap());
        assert_ne!(first, second);
        assert_eq!(std::fs::read_to_string(first).unwrap(), "1");
    }
}
