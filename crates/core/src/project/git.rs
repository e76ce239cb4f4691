//! Reads the few files of a git repository that identify it. Never writes.
//!
//! A repository's files may come from anywhere: archives, packages and shared folders carry a `.git` that
//! its author made up. So a pointer to another directory (`.git` as a file or a link, `commondir`) counts
//! only if the other side points back.

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

    /// The working tree at `root`. A stray `.git` is not a repository; a parent directory may be one.
    pub(super) fn open(root: &Path, unseen: &mut FirstReadError) -> Option<Self> {
        let dot_git = root.join(".git");
        let about = unseen.record(fs::symlink_metadata(&dot_git))?;
        let git_dir = if about.is_dir() {
            dot_git.clone()
        } else if about.is_symlink() {
            unseen.record(dot_git.canonicalize())?
        } else {
            // A linked worktree or a submodule: the file points to its git directory.
            let pointer = read(&dot_git, unseen)?;
            root.join(pointer.strip_prefix("gitdir:")?.trim())
        };
        unseen.record(fs::metadata(git_dir.join("HEAD")))?;
        let common = read(&git_dir.join("commondir"), unseen);
        let common_dir = common.map(|common| git_dir.join(common.trim()));
        let belongs = match &common_dir {
            Some(common) => is_linked_worktree(root, &git_dir, common),
            None => about.is_dir() || is_configured_worktree(root, &git_dir),
        };
        if !belongs {
            let why = "its .git leads to a repository that does not name this directory";
            unseen.0.get_or_insert_with(|| io::Error::other(why));
            return None;
        }
        let common_dir = common_dir.unwrap_or_else(|| git_dir.clone());
        Some(Self { root: root.to_owned(), git_dir, common_dir })
    }

    /// The current branch. `None`: detached, for example during a rebase.
    pub(super) fn branch(&self) -> Option<String> {
        let head = self.head()?;
        let name = head.strip_prefix("ref: refs/heads/")?.trim();
        // Newer ref formats write this placeholder for older readers.
        let real = !name.is_empty() && name != ".invalid";
        real.then(|| name.to_owned())
    }

    /// The id of the checked-out commit. `None`: there is none yet, or it is stored in another format.
    pub(super) fn head_commit(&self) -> Option<String> {
        let head = self.head()?;
        let Some(name) = head.strip_prefix("ref: ").map(str::trim) else {
            return commit_id(&head);
        };
        let quiet = &mut FirstReadError::default();
        let loose = self.common_dir.join(name);
        // A link would lead to the commits of another repository.
        if is_plain_file(&loose)
            && is_inside(&self.common_dir, &loose)
            && let Some(id) = read(&loose, quiet)
        {
            return commit_id(&id);
        }
        let packed = self.common_dir.join("packed-refs");
        let text = is_plain_file(&packed).then(|| read(&packed, quiet)).flatten()?;
        text.lines().find_map(|line| {
            let (id, listed) = line.split_once(' ')?;
            (listed == name).then(|| commit_id(id)).flatten()
        })
    }

    fn head(&self) -> Option<String> {
        let path = self.git_dir.join("HEAD");
        is_plain_file(&path).then(|| read(&path, &mut FirstReadError::default())).flatten()
    }

    /// The URL of `origin`, else of the first remote.
    pub(super) fn remote_url(&self, unseen: &mut FirstReadError) -> Option<String> {
        let config = read(&self.common_dir.join("config"), unseen)?;
        remote_url(&config)
    }
}

/// Whether the repository at `common` lists `git_dir` as one of its worktrees, and that worktree is `root`.
fn is_linked_worktree(root: &Path, git_dir: &Path, common: &Path) -> bool {
    let points_back = || {
        let back = read(&git_dir.join("gitdir"), &mut FirstReadError::default())?;
        same_place(&git_dir.join(back.trim()), &root.join(".git")).then_some(())
    };
    let is_listed = || {
        let (git_dir, common) = (git_dir.canonicalize().ok()?, common.canonicalize().ok()?);
        (git_dir.parent()? == common.join("worktrees")).then_some(())
    };
    is_listed().and_then(|()| points_back()).is_some()
}

/// Whether the repository's configuration names `root` as its working tree, as in a submodule.
fn is_configured_worktree(root: &Path, git_dir: &Path) -> bool {
    let config = read(&git_dir.join("config"), &mut FirstReadError::default());
    let named = config.as_deref().and_then(configured_worktree);
    named.is_some_and(|named| same_place(&git_dir.join(named), root))
}

fn configured_worktree(config: &str) -> Option<&str> {
    let mut is_core = false;
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            is_core = section.trim_end_matches(']').trim().eq_ignore_ascii_case("core");
        } else if is_core
            && let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("worktree")
        {
            return Some(value.trim().trim_matches('"'));
        }
    }
    None
}

fn same_place(one: &Path, other: &Path) -> bool {
    // `.git` itself may be the pointer, so only the directories above it are resolved.
    let place = |path: &Path| match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) if name == ".git" => Some(above.canonicalize().ok()?.join(name)),
        _ => path.canonicalize().ok(),
    };
    place(one).is_some_and(|one| place(other) == Some(one))
}

/// Whether the path is below `dir` after all links are resolved.
pub(super) fn is_inside(dir: &Path, path: &Path) -> bool {
    match (dir.canonicalize(), path.canonicalize()) {
        (Ok(dir), Ok(path)) => path.starts_with(dir),
        _ => false,
    }
}

/// Whether this is a regular file and no link to one.
pub(super) fn is_plain_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_file())
}

/// A commit id: 40 or 64 hex digits.
fn commit_id(text: &str) -> Option<String> {
    let id = text.trim();
    let is_id = matches!(id.len(), 40 | 64) && id.bytes().all(|b| b.is_ascii_hexdigit());
    is_id.then(|| id.to_ascii_lowercase())
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
