//! Which project a directory belongs to.
//!
//! In: a directory. Out: a `ProjectHint` with all the names the project can be known by,
//! strongest first: its remote, its git directory (which worktrees share), its path. The store
//! makes one project of hints that share a name.
//!
//! A hook does this on every call, so it reads a handful of small files and starts no process.
//! Nothing here fails: what cannot be read is one name fewer, and `look` says so.

mod git;
mod remote;

use std::path::Path;

pub use remote::normalise as normalise_remote;

use crate::hook::event::ProjectHint;

/// Looks at a directory and the ones above it.
pub fn identify(dir: &Path) -> ProjectHint {
    look(dir).0
}

/// The same, and why it may have a name that is not among these: a repository that is there and
/// cannot be looked into. Who asks whether it is ignored has to know.
pub fn look(dir: &Path) -> (ProjectHint, Option<std::io::Error>) {
    let mut unseen = git::Unseen::default();
    let hint = match git::Checkout::around(dir, &mut unseen) {
        Some(checkout) => of_checkout(&checkout, &mut unseen),
        None => of_path(dir),
    };
    (hint, unseen.0)
}

fn of_checkout(checkout: &git::Checkout, unseen: &mut git::Unseen) -> ProjectHint {
    let root = canonical(&checkout.root);
    let common = canonical(&checkout.common_dir);
    let remote = checkout
        .remote_url(unseen)
        .and_then(|url| normalise_remote(&url));
    let mut keys = Vec::with_capacity(3);
    keys.extend(remote.as_ref().map(|remote| format!("remote:{remote}")));
    keys.push(format!("git:{common}"));
    // A worktree's path is its own; the main one's is the project's.
    keys.push(format!("path:{root}"));
    // A worktree without a remote is still called after the repository, not after its folder.
    let home = common.strip_suffix("/.git").unwrap_or(&root);
    ProjectHint {
        name: last_part(remote.as_deref().unwrap_or(home)),
        keys,
        branch: checkout.branch(),
        root,
    }
}

fn of_path(dir: &Path) -> ProjectHint {
    let root = canonical(dir);
    ProjectHint {
        name: last_part(&root),
        keys: vec![format!("path:{root}")],
        branch: None,
        root,
    }
}

/// The one spelling of a path. A directory that is gone keeps the spelling it came with.
fn canonical(path: &Path) -> String {
    let real = path.canonicalize();
    let path = real.as_deref().unwrap_or(path).to_string_lossy();
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { "/" } else { trimmed }.to_owned()
}

fn last_part(path: &str) -> String {
    let last = path.rsplit('/').find(|part| !part.is_empty());
    last.unwrap_or("/").to_owned()
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
