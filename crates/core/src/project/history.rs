//! Decides whether two directories hold the same history.
//!
//! A remote URL is a claim that anyone can write into a `config` file. Commit ids cannot be guessed: a
//! directory that contains a commit of a project was cloned from it, or from a copy of it. Reads the
//! indexes of packs and the names of loose objects; starts no process and follows neither links nor
//! `alternates`, which would lead to the objects of another repository.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::git::{FirstReadError, GitCheckout, is_inside, is_plain_file};
use crate::paths;

/// Maximum pack indexes that are searched.
const PACKS_MAX: usize = 64;

/// Maximum known commits that are looked up in a directory.
const KNOWN_COMMITS_MAX: usize = 64;

/// Maximum bytes read of one pack index for one commit: the names that share its first byte.
const PACK_NAMES_BYTES_MAX: u64 = 4 << 20;

/// Whether the repository at `claimant` contains one of the known commits, or shares a checked-out commit
/// with the repository at `known_root`.
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
    claimant.head_commit().is_some_and(|id| ours.contains(&id))
        || known.head_commit().is_some_and(|id| theirs.contains(&id))
}

fn open(root: &Path) -> Option<GitCheckout> {
    GitCheckout::open(root, &mut FirstReadError::default())
}

/// Looks up commits in the objects of a repository.
struct CommitLookup {
    objects: Option<PathBuf>,
    packs: Vec<PathBuf>,
    head: Option<String>,
}

impl CommitLookup {
    fn new(checkout: &GitCheckout) -> Self {
        let objects = checkout.common_dir.join("objects");
        let packs = objects.join("pack");
        let own = |dir: &Path| is_inside(&checkout.common_dir, dir);
        let mut found: Vec<PathBuf> = match std::fs::read_dir(&packs) {
            Ok(entries) if own(&packs) => entries.flatten().map(|entry| entry.path()).collect(),
            _ => Vec::new(),
        };
        found.retain(|path| path.extension().is_some_and(|kind| kind == "idx") && is_plain_file(path));
        found.truncate(PACKS_MAX);
        Self { objects: own(&objects).then_some(objects), packs: found, head: checkout.head_commit() }
    }

    fn contains(&self, id: &str) -> bool {
        let Some(bytes) = from_hex(id) else {
            return false;
        };
        self.head.as_deref() == Some(id)
            || self.has_loose(id)
            || self.packs.iter().any(|index| is_in_index(index, &bytes).unwrap_or(false))
    }

    fn has_loose(&self, id: &str) -> bool {
        let Some(objects) = &self.objects else {
            return false;
        };
        let folder = objects.join(&id[..2]);
        let is_folder = std::fs::symlink_metadata(&folder).is_ok_and(|about| about.is_dir());
        is_folder && is_plain_file(&folder.join(&id[2..]))
    }
}

/// Looks up an object in a pack index of version 2: a table of counts by first byte, then sorted names.
fn is_in_index(index: &Path, id: &[u8]) -> io::Result<bool> {
    const MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
    const NAMES_AT: u64 = 8 + 4 * 256;
    let file = paths::open_file(index)?;
    let mut magic = [0; 8];
    file.read_exact_at(&mut magic, 0)?;
    if magic != MAGIC {
        return Ok(false);
    }
    let first = u64::from(id[0]);
    let begin = if first == 0 { 0 } else { count_at(&file, first - 1)? };
    let end = count_at(&file, first)?;
    let width = id.len() as u64;
    let bytes = end.saturating_sub(begin).saturating_mul(width).min(PACK_NAMES_BYTES_MAX);
    let mut names = vec![0; usize::try_from(bytes).unwrap_or(0)];
    file.read_exact_at(&mut names, NAMES_AT + begin * width)?;
    Ok(names.chunks_exact(id.len()).any(|name| name == id))
}

fn count_at(file: &File, byte: u64) -> io::Result<u64> {
    let mut count = [0; 4];
    file.read_exact_at(&mut count, 8 + 4 * byte)?;
    Ok(u32::from_be_bytes(count).into())
}

fn from_hex(id: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = id.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let digits = digits.filter(|digits| digits.len() >= 40 && digits.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
