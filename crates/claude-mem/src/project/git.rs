//! The few files of a git repository that say what it is. Read, never written.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::limits::{GIT_FILE_BYTES_MAX, GIT_PARENTS_MAX};
use crate::paths;

/// A working tree.
#[derive(Debug)]
pub(super) struct Checkout {
    /// The directory that holds `.git`.
    pub root: PathBuf,
    /// Its own git directory: a worktree has one of its own, with its own `HEAD`.
    git_dir: PathBuf,
    /// What all worktrees of the repository share.
    pub common_dir: PathBuf,
}

impl Checkout {
    /// The innermost working tree that `dir` lies in.
    pub(super) fn around(dir: &Path, unseen: &mut Unseen) -> Option<Self> {
        let mut above = dir.ancestors().take(GIT_PARENTS_MAX);
        above.find_map(|root| Self::at(root, unseen))
    }

    fn at(root: &Path, unseen: &mut Unseen) -> Option<Self> {
        let dot_git = root.join(".git");
        let git_dir = if unseen.noted(fs::metadata(&dot_git))?.is_dir() {
            dot_git
        } else {
            // A worktree or a submodule: the file says where its git directory is.
            let pointer = read(&dot_git, unseen)?;
            let target = pointer.strip_prefix("gitdir:")?.trim();
            root.join(target)
        };
        let common_dir = match read(&git_dir.join("commondir"), unseen) {
            Some(common) => git_dir.join(common.trim()),
            None => git_dir.clone(),
        };
        // A stray `.git` is no repository, and what is above it may be one.
        let known = unseen.noted(fs::metadata(git_dir.join("HEAD"))).is_some();
        known.then(|| Self {
            root: root.to_owned(),
            git_dir,
            common_dir,
        })
    }

    /// `None`: no branch, as in the middle of a rebase.
    pub(super) fn branch(&self) -> Option<String> {
        let head = read(&self.git_dir.join("HEAD"), &mut Unseen::default())?;
        let name = head.strip_prefix("ref: refs/heads/")?.trim();
        // What newer ref formats leave in the file for older readers.
        let real = !name.is_empty() && name != ".invalid";
        real.then(|| name.to_owned())
    }

    /// The address of `origin`, else of the first remote.
    pub(super) fn remote_url(&self, unseen: &mut Unseen) -> Option<String> {
        let config = read(&self.common_dir.join("config"), unseen)?;
        remote_url(&config)
    }
}

fn remote_url(config: &str) -> Option<String> {
    let mut first = None;
    let mut remote: Option<&str> = None;
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            remote = section
                .strip_prefix("remote \"")
                .and_then(|rest| rest.split_once('"'))
                .map(|(name, _)| name);
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
fn read(path: &Path, unseen: &mut Unseen) -> Option<String> {
    let mut text = Vec::new();
    let file = unseen.noted(paths::open_file(path))?;
    unseen.noted(file.take(GIT_FILE_BYTES_MAX).read_to_end(&mut text))?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// What could not be looked at, and why: something is there, and it may say another name.
#[derive(Debug, Default)]
pub(super) struct Unseen(pub Option<io::Error>);

impl Unseen {
    fn noted<T>(&mut self, looked: io::Result<T>) -> Option<T> {
        use io::ErrorKind::{InvalidInput, NotADirectory, NotFound};
        looked
            .map_err(|e| {
                // `InvalidInput`: it is there, and no file.
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
