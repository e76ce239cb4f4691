//! Identifies the project that a directory belongs to.
//!
//! [`identify`] returns a `ProjectHint` with all keys of the project, strongest first: its remote,
//! its git directory (shared by worktrees) and its path. The store finds the project by its local keys.
//! A directory that joins a project by its remote alone must share its history: [`shares_history`].
//! [`identify_with_commit`] adds the id of the checked-out commit, which the store keeps for that.
//!
//! Every hook call does this, so it reads a handful of small files and starts no process. It never
//! fails: an unreadable file means one key less, and [`identify_with_error`] reports it.

mod git;
mod git_object;
mod history;
mod remote;
mod sha1;

use std::path::Path;

pub use history::shares_history;
pub use remote::normalise as normalise_remote;

/// Prefixes of a project's keys.
pub const REMOTE_KEY: &str = "remote:";
pub const GIT_KEY: &str = "git:";
pub const PATH_KEY: &str = "path:";
/// Prefix of a commit id: evidence of the project's history, not a name of the project.
pub const COMMIT_KEY: &str = "commit:";

use crate::event::ProjectHint;

/// Examines a directory and its parents.
pub fn identify(dir: &Path) -> ProjectHint {
    identify_with_error(dir).0
}

/// Like [`identify`], with the error that may have hidden a key: a repository that exists and
/// cannot be read. Callers that check ignore rules need it.
pub fn identify_with_error(dir: &Path) -> (ProjectHint, Option<std::io::Error>) {
    let mut unseen = git::FirstReadError::default();
    let hint = match git::GitCheckout::containing(dir, &mut unseen) {
        Some(checkout) => hint_from_checkout(&checkout, &mut unseen),
        None => hint_from_path(dir),
    };
    (hint, unseen.0)
}

/// Like [`identify_with_error`], with the checked-out commit as the last key. It costs another small file,
/// so hooks read it at the borders of a turn only.
pub fn identify_with_commit(dir: &Path) -> (ProjectHint, Option<std::io::Error>) {
    let mut unseen = git::FirstReadError::default();
    let hint = match git::GitCheckout::containing(dir, &mut unseen) {
        Some(checkout) => {
            let mut hint = hint_from_checkout(&checkout, &mut unseen);
            hint.keys.extend(checkout.head_commit().map(|id| format!("{COMMIT_KEY}{id}")));
            hint
        }
        None => hint_from_path(dir),
    };
    (hint, unseen.0)
}

fn hint_from_checkout(checkout: &git::GitCheckout, unseen: &mut git::FirstReadError) -> ProjectHint {
    let root = canonical(&checkout.root);
    let common = canonical(&checkout.common_dir);
    let remote = checkout.remote_url(unseen).and_then(|url| normalise_remote(&url));
    let mut keys = Vec::with_capacity(3);
    keys.extend(remote.as_ref().map(|remote| format!("{REMOTE_KEY}{remote}")));
    keys.push(format!("{GIT_KEY}{common}"));
    // Only the main checkout's path identifies the whole project; a worktree's path is its own.
    keys.push(format!("{PATH_KEY}{root}"));
    // A worktree without a remote is named after the repository, not after its own folder.
    let home = common.strip_suffix("/.git").unwrap_or(&root);
    ProjectHint {
        name: last_component(remote.as_deref().unwrap_or(home)),
        keys,
        branch: checkout.branch(),
        root,
    }
}

fn hint_from_path(dir: &Path) -> ProjectHint {
    let root = canonical(dir);
    if let Some((home, worktree)) = split_worktree_path(&root) {
        return ProjectHint {
            name: last_component(home),
            keys: vec![format!("{PATH_KEY}{home}"), format!("{PATH_KEY}{worktree}")],
            branch: None,
            root: worktree.to_owned(),
        };
    }
    ProjectHint { name: last_component(&root), keys: vec![format!("{PATH_KEY}{root}")], branch: None, root }
}

/// Where worktrees are kept inside their repository. Of one that is gone only the path tells.
const WORKTREE_FOLDERS: [&str; 2] = ["/.worktrees/", "/.claude/worktrees/"];

/// The repository's directory and the worktree's, if the path is inside a worktree.
fn split_worktree_path(path: &str) -> Option<(&str, &str)> {
    WORKTREE_FOLDERS.iter().find_map(|folder| {
        let at = path.find(folder).filter(|at| *at > 0)?;
        let inside = at + folder.len();
        let name = path[inside..].split('/').next().filter(|name| !name.is_empty())?;
        Some((&path[..at], &path[..inside + name.len()]))
    })
}

/// The canonical spelling of a path. A missing directory keeps its spelling.
fn canonical(path: &Path) -> String {
    let real = path.canonicalize();
    let path = real.as_deref().unwrap_or(path).to_string_lossy();
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { "/" } else { trimmed }.to_owned()
}

fn last_component(path: &str) -> String {
    let last = path.rsplit('/').find(|part| !part.is_empty());
    last.unwrap_or("/").to_owned()
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
