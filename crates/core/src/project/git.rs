//! Reads the few files of a git repository that identify it. Never writes.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::paths;

/// Maximum bytes read of one Git file, such as `config` or `HEAD`.
const GIT_FILE_BYTES_MAX: u64 = 64 << 10;

/// Maximum directories, from the working directory upwards, that are searched for a Git repository.
const GIT_PARENTS_MAX: usize = 64;

/// A working tree.
#[derive(Debug)]
pub(super) struct GitCheckout {
    /// The directory that contains `.git`.
    pub root: PathBuf,
    /// Its own git directory: a linked worktree has its own, with its own `HEAD`.
    git_dir: PathBuf,
    /// The git directory that all worktrees of the repository share.
    pub common_dir: PathBuf,
}

impl GitCheckout {
    /// The innermost working tree that contains `dir`.
    pub(super) fn containing(dir: &Path, unseen: &mut FirstReadError) -> Option<Self> {
        let mut above = dir.ancestors().take(GIT_PARENTS_MAX);
        above.find_map(|root| Self::open(root, unseen))
    }

    fn open(root: &Path, unseen: &mut FirstReadError) -> Option<Self> {
        let dot_git = root.join(".git");
        let git_dir = if unseen.record(fs::metadata(&dot_git))?.is_dir() {
            dot_git
        } else {
            // A linked worktree or a submodule: the file points to its git directory.
            let pointer = read(&dot_git, unseen)?;
            let target = pointer.strip_prefix("gitdir:")?.trim();
            root.join(target)
        };
        let common_dir = match read(&git_dir.join("commondir"), unseen) {
            Some(common) => git_dir.join(common.trim()),
            None => git_dir.clone(),
        };
        // A stray `.git` is not a repository; a parent directory may be one.
        let known = unseen.record(fs::metadata(git_dir.join("HEAD"))).is_some();
        known.then(|| Self { root: root.to_owned(), git_dir, common_dir })
    }

    /// The current branch. `None`: detached, for example during a rebase.
    pub(super) fn branch(&self) -> Option<String> {
        let head = read(&self.git_dir.join("HEAD"), &mut FirstReadError::default())?;
        let name = head.strip_prefix("ref: refs/heads/")?.trim();
        // Newer ref formats write this placeholder for older readers.
        let real = !name.is_empty() && name != ".invalid";
        real.then(|| name.to_owned())
    }

    /// The URL of `origin`, else of the first remote.
    pub(super) fn remote_url(&self, unseen: &mut FirstReadError) -> Option<String> {
        let config = read(&self.common_dir.join("config"), unseen)?;
        remote_url(&config)
    }
}

fn remote_url(config: &str) -> Option<String> {
    let mut first = None;
    let mut remote: Option<&str> = None;
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            remote =
                section.strip_prefix("remote \"").and_then(|rest| rest.split_once('"')).map(|(name, _)| name);
        } else if let Some(name) = remote
            && let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("url")
        {
            let url = value.trim().trim_matches('"');
            if name == "origin" {
                return Some(url.to_owned());
            }
            first = first.or(Some(url));
        }
    }
    first.map(str::to_owned)
}

/// The beginning of a small text file.
fn read(path: &Path, unseen: &mut FirstReadError) -> Option<String> {
    let mut text = Vec::new();
    let file = unseen.record(paths::open_file(path))?;
    unseen.record(file.take(GIT_FILE_BYTES_MAX).read_to_end(&mut text))?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The first unexpected read error: something exists that could name the project differently.
#[derive(Debug, Default)]
pub(super) struct FirstReadError(pub Option<io::Error>);

impl FirstReadError {
    fn record<T>(&mut self, looked: io::Result<T>) -> Option<T> {
        use io::ErrorKind::{InvalidInput, NotADirectory, NotFound};
        looked
            .map_err(|e| {
                // `InvalidInput`: it exists, but is not a regular file.
                if !matches!(e.kind(), NotFound | NotADirectory | InvalidInput) {
                    self.0.get_or_insert(e);
                }
            })
            .ok()
    }
}

#[cfg(test)]
#[path = "git_tests.rs"]
mod tests;
