//! Copies of the store in `backups/`: made hourly when something changed, checked, and not too
//! many of them.

use std::path::{Path, PathBuf};

use crate::clock::Millis;
use crate::store::{BackupReport, Store, StoreError};

/// One backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    pub path: PathBuf,
    pub at: Millis,
    pub bytes: u64,
}

const STAMP: &str = "%Y%m%dT%H%M%SZ";

/// A time as it stands in file names: sorts by time, needs no quoting.
pub fn stamp(at: Millis) -> String {
    let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.strftime(STAMP).to_string()
}

pub(super) fn read_stamp(text: &str) -> Option<Millis> {
    let at = jiff::civil::DateTime::strptime(STAMP, text).ok()?;
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Millis(at.timestamp().as_millisecond()))
}

/// All backups, oldest first. Other files in the directory are none of ours.
pub fn list(dir: &Path) -> Result<Vec<Backup>, StoreError> {
    let io = |error| StoreError::Io(dir.display().to_string(), error);
    let entries = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(io)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io)?;
        let name = entry.file_name();
        let at = name
            .to_str()
            .and_then(|name| name.strip_prefix("claude-mem-")?.strip_suffix(".db"))
            .and_then(read_stamp);
        if let Some(at) = at {
            found.push(Backup {
                path: entry.path(),
                at,
                bytes: entry.metadata().map_err(io)?.len(),
            });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Makes one now, beside the writers: they go on while it reads.
pub fn make(database: &Path, dir: &Path, now: Millis) -> Result<BackupReport, StoreError> {
    crate::paths::create_dir(dir).map_err(|e| StoreError::Io(dir.display().to_string(), e))?;
    let to = dir.join(format!("claude-mem-{}.db", stamp(now)));
    Store::open_read_only(database)?.back_up(&to)
}

/// Whether the database has changed since its newest backup.
pub fn is_due(database: &Path, dir: &Path) -> Result<bool, StoreError> {
    let backups = list(dir)?;
    let Some(newest) = backups.last() else {
        return Ok(true);
    };
    let changed = |path: &Path| std::fs::metadata(path).and_then(|meta| meta.modified());
    let backup = changed(&newest.path).map_err(|e| StoreError::Io("its backup".to_owned(), e))?;
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    let newer = |path: &Path| match changed(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(StoreError::io(path.display(), e)),
        Ok(at) => Ok(at > backup),
    };
    Ok(newer(database)? || newer(Path::new(&log))?)
}

/// Removes the oldest until no more than `keep` are left and they fit into `bytes_max`. The
/// newest always stays. Returns how many went.
pub fn prune(dir: &Path, keep: usize, bytes_max: u64) -> Result<usize, StoreError> {
    let backups = list(dir)?;
    let mut bytes: u64 = backups.iter().map(|backup| backup.bytes).sum();
    let mut left = backups.len();
    let mut removed = 0;
    for backup in &backups {
        if left <= 1 || (left <= keep.max(1) && bytes <= bytes_max) {
            break;
        }
        match std::fs::remove_file(&backup.path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::Io(backup.path.display().to_string(), e));
            }
            _ => {}
        }
        (left, bytes, removed) = (left - 1, bytes - backup.bytes, removed + 1);
    }
    Ok(removed)
}

#[cfg(test)]
#[path = "backups_tests.rs"]
mod tests;
