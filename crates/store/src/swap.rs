//! Replaces the database by another one in a crash-safe way.
//!
//! Invariant: the new database is complete before any file is renamed. From the first rename to the
//! last, a note ([`DatabaseSwap`]) exists beside the database; while it does, no process opens or
//! creates a database. The next writer performs the renames that are left.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::open::remove_if_exists;
use super::{ExclusiveLock, StoreError};
use claude_mem_core::limits::GATE_SECONDS;
use claude_mem_core::paths::{replace_file, with_suffix};

/// The content of the note.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DatabaseSwap {
    /// The new database, on the same file system.
    pub(super) ready: PathBuf,
    /// Where the old database goes, with its write-ahead log.
    pub(super) aside: PathBuf,
}

/// Moves `database` to `aside` and `ready` to `database`. The exclusive lock guarantees that no
/// writer has either open.
pub(super) fn swap_database(
    _gate: &ExclusiveLock,
    database: &Path,
    ready: &Path,
    aside: &Path,
) -> Result<(), StoreError> {
    let swap = DatabaseSwap { ready: ready.to_owned(), aside: aside.to_owned() };
    swap.write_note(database)?;
    swap.complete(database)
}

/// Completes an interrupted swap. False if there was none.
pub(super) fn finish_swap(_gate: &ExclusiveLock, database: &Path) -> Result<bool, StoreError> {
    let Some(swap) = DatabaseSwap::load_pending(database)? else {
        return Ok(false);
    };
    swap.complete(database)?;
    Ok(true)
}

/// Whether a swap is in progress or was interrupted. Costs one failed `stat` if not.
pub(super) fn is_swap_pending(database: &Path) -> bool {
    !matches!(rustix::fs::stat(note_path(database)), Err(rustix::io::Errno::NOENT))
}

/// Completes a swap that another process left unfinished.
pub(super) fn finish_pending_swap(database: &Path) -> Result<(), StoreError> {
    let gate = ExclusiveLock::acquire(database, Duration::from_secs(GATE_SECONDS))?;
    finish_swap(&gate, database).map(drop)
}

impl DatabaseSwap {
    fn load_pending(database: &Path) -> Result<Option<Self>, StoreError> {
        let path = note_path(database);
        match claude_mem_core::paths::read_file(&path) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(StoreError::io(path.display(), e)),
        }
    }

    /// Writes the note atomically, after the new database is synced to disk.
    pub(super) fn write_note(&self, database: &Path) -> Result<(), StoreError> {
        let path = note_path(database);
        File::open(&self.ready)
            .and_then(|ready| ready.sync_all())
            .map_err(|e| StoreError::io(self.ready.display(), e))?;
        replace_file(&path, &serde_json::to_vec(self)?).map_err(|e| StoreError::io(path.display(), e))?;
        sync_directory(database)
    }

    /// The renames in order. The write-ahead log goes first: a log that is left behind would be
    /// applied to the new database.
    pub(super) fn renames(&self, database: &Path) -> Vec<(PathBuf, PathBuf)> {
        let aside = |ending| (with_suffix(database, ending), with_suffix(&self.aside, ending));
        let mut moves: Vec<_> = ["-wal", "-shm", ""].into_iter().map(aside).collect();
        moves.push((self.ready.clone(), database.to_owned()));
        moves
    }

    /// Performs the renames that are left and removes the note. After the last rename the new
    /// database is in place.
    fn complete(&self, database: &Path) -> Result<(), StoreError> {
        // If this cannot be determined, stop: only the note records the renames that are left.
        let is_ready = self.ready.try_exists();
        if is_ready.map_err(|e| StoreError::io(self.ready.display(), e))? {
            for (from, to) in self.renames(database) {
                match std::fs::rename(&from, &to) {
                    Err(e) if e.kind() != ErrorKind::NotFound => {
                        return Err(StoreError::io(from.display(), e));
                    }
                    _ => {}
                }
            }
            sync_directory(database)?;
        }
        remove_if_exists(&note_path(database))
    }
}

fn note_path(database: &Path) -> PathBuf {
    with_suffix(database, ".swap")
}

fn sync_directory(of: &Path) -> Result<(), StoreError> {
    let directory = of.parent().unwrap_or(Path::new("."));
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(|e| StoreError::io(directory.display(), e))
}

#[cfg(test)]
#[path = "swap_tests.rs"]
mod tests;
