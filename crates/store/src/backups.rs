//! Backups of the database in `backups/`: created hourly if the database has changed, verified, and
//! pruned by number and size.

use std::path::{Path, PathBuf};

use crate::{BackupReport, Store, StoreError};
use claude_mem_core::clock::Millis;
use claude_mem_core::paths::{remove_if_exists, with_suffix};

/// One backup file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupFile {
    pub path: PathBuf,
    pub at: Millis,
    pub bytes: u64,
}

/// Format of the time in a backup's file name.
const STAMP: &str = "%Y%m%dT%H%M%SZ";

/// Formats a time for file names: sorts chronologically, needs no quoting.
pub fn format_stamp(at: Millis) -> String {
    let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.strftime(STAMP).to_string()
}

/// Parses a time from a file name.
pub fn parse_stamp(text: &str) -> Option<Millis> {
    let civil = jiff::civil::DateTime::strptime(STAMP, text).ok()?;
    let at = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Millis(at.timestamp().as_millisecond()))
}

/// All backups, oldest first. Other files in the directory are ignored.
pub fn list(dir: &Path) -> Result<Vec<BackupFile>, StoreError> {
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
            .and_then(parse_stamp);
        if let Some(at) = at {
            found.push(BackupFile { path: entry.path(), at, bytes: entry.metadata().map_err(io)?.len() });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Creates a backup now. Writers are not blocked while it reads.
pub fn create(database: &Path, dir: &Path, now: Millis) -> Result<BackupReport, StoreError> {
    claude_mem_core::paths::create_dir(dir).map_err(|e| StoreError::Io(dir.display().to_string(), e))?;
    let to = dir.join(format!("claude-mem-{}.db", format_stamp(now)));
    Store::open_read_only(database)?.back_up(&to)
}

/// Whether the database has changed since its newest backup.
pub fn is_due(database: &Path, dir: &Path) -> Result<bool, StoreError> {
    let backups = list(dir)?;
    let Some(newest) = backups.last() else {
        return Ok(true);
    };
    let changed = |path: &Path| std::fs::metadata(path).and_then(|meta| meta.modified());
    let backup = changed(&newest.path).map_err(|e| StoreError::Io("the newest backup".to_owned(), e))?;
    let newer = |path: &Path| match changed(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(StoreError::io(path.display(), e)),
        Ok(at) => Ok(at > backup),
    };
    Ok(newer(database)? || newer(&with_suffix(database, "-wal"))?)
}

/// Deletes the oldest backups until at most `keep` are left and they fit into `bytes_max`. The
/// newest is always kept. Returns the number of deleted backups.
pub fn prune(dir: &Path, keep: usize, bytes_max: u64) -> Result<usize, StoreError> {
    let backups = list(dir)?;
    let mut bytes: u64 = backups.iter().map(|backup| backup.bytes).sum();
    let mut left = backups.len();
    let mut removed = 0;
    for backup in &backups {
        if left <= 1 || (left <= keep.max(1) && bytes <= bytes_max) {
            break;
        }
        remove_if_exists(&backup.path).map_err(|e| StoreError::io(backup.path.display(), e))?;
        (left, bytes, removed) = (left - 1, bytes - backup.bytes, removed + 1);
    }
    Ok(removed)
}

#[cfg(test)]
#[path = "backups_tests.rs"]
mod tests;
