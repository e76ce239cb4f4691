//! Decides whether two directories hold the same history.
//!
//! A remote URL is a claim that anyone can write into a `config` file, and so is a commit id in `HEAD`, a ref or
//! the name of a file. The contents of a commit are not: a directory that has them was cloned from the project, or
//! from a copy of it. [`CommitLookup`] reads them; no process is started.

use std::path::Path;

use super::git::{FirstReadError, GitCheckout};
use super::git_object::CommitLookup;

/// Maximum known commits that are looked up in a directory.
const KNOWN_COMMITS_MAX: usize = 64;

/// Whether the repository at `claimant` has the contents of one of the known commits, or of a commit that the
/// repository at `known_root` has, too: of the one that either of them has checked out.
pub fn shares_history(claimant: &Path, known_commits: &[String], known_root: &Path) -> bool {
    let Some(claimant) = open(claimant) else {
        return false;
    };
    let theirs = CommitLookup::new(&claimant);
    if known_commits.iter().take(KNOWN_COMMITS_MAX).any(|id| theirs.contains(id)) {
        return true;
    }
    let Some(known) = open(known_root) else {
        return false;
    };
    let ours = CommitLookup::new(&known);
    claimant.head_commit().is_some_and(|id| theirs.contains(&id) && ours.contains(&id))
        || known.head_commit().is_some_and(|id| theirs.contains(&id))
}

fn open(root: &Path) -> Option<GitCheckout> {
    GitCheckout::open(root, &mut FirstReadError::default())
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
