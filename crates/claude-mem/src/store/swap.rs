//! Putting another database in the place of one, without a moment in which a crash would lose
//! either.
//!
//! Invariant: what is to come is whole before anything moves. From the first move to the last a
//! note lies beside the database, and while it does nobody opens or creates one: whoever comes
//! next makes the moves that are left.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::open::create_private_file;
use super::{Gate, Store, StoreError};
use crate::limits::GATE_SECONDS;

/// The note.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Swap {
    /// What takes the place, on the same file system.
    pub(super) ready: PathBuf,
    /// Where what was there goes, with its log.
    pub(super) aside: PathBuf,
}

impl Store {
    /// Puts `ready` in the place of `database`, which goes to `aside`. Nobody has either open:
    /// that is what the gate is for.
    pub fn swap(
        _gate: &Gate,
        database: &Path,
        ready: &Path,
        aside: &Path,
    ) -> Result<(), StoreError> {
        let swap = Swap {
            ready: ready.to_owned(),
            aside: aside.to_owned(),
        };
        swap.note(database)?;
        swap.finish(database)
    }

    /// Ends a swap that was cut off. False if there was none.
    pub fn finish_swap(_gate: &Gate, database: &Path) -> Result<bool, StoreError> {
        let Some(swap) = Swap::under_way(database)? else {
            return Ok(false);
        };
        swap.finish(database)?;
        Ok(true)
    }
}

/// True while there may be no database to open. Costs one failed look.
pub(super) fn is_under_way(database: &Path) -> bool {
    !matches!(
        rustix::fs::stat(note_beside(database)),
        Err(rustix::io::Errno::NOENT)
    )
}

/// Ends a swap that was cut off, whoever began it.
pub(super) fn finish(database: &Path) -> Result<(), StoreError> {
    let gate = Gate::close(database, Duration::from_secs(GATE_SECONDS))?;
    Store::finish_swap(&gate, database).map(drop)
}

impl Swap {
    fn under_way(database: &Path) -> Result<Option<Self>, StoreError> {
        let path = note_beside(database);
        match std::fs::read(&path) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(StoreError::io(path.display(), e)),
        }
    }

    /// The note has its name only when it is whole and on the disk, and so is what it speaks of.
    pub(super) fn note(&self, database: &Path) -> Result<(), StoreError> {
        let path = note_beside(database);
        let unfinished = beside(&path, ".new");
        remove_if_there(&unfinished)?;
        let io = |e| StoreError::io(path.display(), e);
        File::open(&self.ready)
            .and_then(|ready| ready.sync_all())
            .map_err(|e| StoreError::io(self.ready.display(), e))?;
        let mut file = create_private_file(&unfinished).map_err(io)?;
        file.write_all(&serde_json::to_vec(self)?)
            .and_then(|()| file.sync_all())
            .and_then(|()| std::fs::rename(&unfinished, &path))
            .map_err(io)?;
        sync_directory(database)
    }

    /// The log first: one that was left behind would be taken for the next database's.
    pub(super) fn moves(&self, database: &Path) -> Vec<(PathBuf, PathBuf)> {
        let aside = |ending| (beside(database, ending), beside(&self.aside, ending));
        let mut moves: Vec<_> = ["-wal", "-shm", ""].into_iter().map(aside).collect();
        moves.push((self.ready.clone(), database.to_owned()));
        moves
    }

    /// Makes the moves that are left. Once the last is made, what stands there is the new one.
    fn finish(&self, database: &Path) -> Result<(), StoreError> {
        // Not to know is not to go on: the note is all that tells of the moves that are left.
        let is_ready = self.ready.try_exists();
        if is_ready.map_err(|e| StoreError::io(self.ready.display(), e))? {
            for (from, to) in self.moves(database) {
                match std::fs::rename(&from, &to) {
                    Err(e) if e.kind() != ErrorKind::NotFound => {
                        return Err(StoreError::io(from.display(), e));
                    }
                    _ => {}
                }
            }
            sync_directory(database)?;
        }
        remove_if_there(&note_beside(database))
    }
}

fn note_beside(database: &Path) -> PathBuf {
    beside(database, ".swap")
}

fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

fn sync_directory(of: &Path) -> Result<(), StoreError> {
    let directory = of.parent().unwrap_or(Path::new("."));
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(|e| StoreError::io(directory.display(), e))
}

fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(StoreError::io(path.display(), e)),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "swap_tests.rs"]
mod tests;
