//! What the data directory takes on disk.

use std::path::Path;

use serde::Serialize;

use crate::paths::DataDir;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Sizes {
    pub(super) database: u64,
    pub(super) log_ahead: u64,
    pub(super) vectors: u64,
    pub(super) spool: u64,
    pub(super) backups: u64,
    pub(super) logs: u64,
    pub(super) total: u64,
    #[serde(skip)]
    pub(super) spooled_files: u64,
}

impl Sizes {
    pub(super) fn of(data: &DataDir) -> Self {
        let (spool, spooled_files) = directory(&data.spool());
        let sizes = Self {
            database: file(&data.db()),
            log_ahead: file(&with_suffix(&data.db(), "-wal")),
            vectors: file(&data.vectors_db()) + file(&with_suffix(&data.vectors_db(), "-wal")),
            spool,
            backups: directory(&data.backups()).0,
            logs: directory(&data.logs()).0,
            total: 0,
            spooled_files,
        };
        let parts = [
            sizes.database,
            sizes.log_ahead,
            sizes.vectors,
            sizes.spool,
            sizes.backups,
            sizes.logs,
        ];
        Self {
            total: parts.iter().sum(),
            ..sizes
        }
    }
}

/// What is not there takes no room.
fn file(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}

/// Bytes and number of the files directly in it. Temporary names are not counted as files.
fn directory(path: &Path) -> (u64, u64) {
    let Ok(entries) = std::fs::read_dir(path) else {
        return (0, 0);
    };
    let mut bytes = 0;
    let mut files = 0;
    for entry in entries.flatten() {
        let Ok(meta) = entry.metadata() else { continue };
        if meta.is_file() {
            bytes += meta.len();
            let unfinished = entry.file_name().to_string_lossy().ends_with(".tmp");
            files += u64::from(!unfinished);
        }
    }
    (bytes, files)
}

fn with_suffix(path: &Path, suffix: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
