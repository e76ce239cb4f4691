//! Disk usage of the data directory.

use std::fs::Metadata;
use std::path::Path;

use serde::Serialize;

use claude_mem_core::paths::{DataDir, with_suffix};

/// Bytes per part of the data directory, and the number of files in the spool. A part that cannot be read counts as
/// empty: these figures inform, and `status` reports an unreadable directory as a problem of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct DiskUsage {
    pub(super) database: u64,
    /// The write-ahead log.
    pub(super) log_ahead: u64,
    pub(super) vectors: u64,
    pub(super) spool: u64,
    pub(super) backups: u64,
    pub(super) logs: u64,
    pub(super) total: u64,
    #[serde(skip)]
    pub(super) spooled_files: u64,
}

impl DiskUsage {
    pub(super) fn measure(data: &DataDir) -> Self {
        let ends = |end| move |name: &str| name.ends_with(end) && !name.starts_with('.');
        let spooled_files = count_files(&data.spool(), ends(".json"));
        let sizes = Self {
            database: file_bytes(&data.db()),
            log_ahead: file_bytes(&with_suffix(&data.db(), "-wal")),
            vectors: file_bytes(&data.vectors_db()) + file_bytes(&with_suffix(&data.vectors_db(), "-wal")),
            spool: directory_bytes(&data.spool()),
            backups: directory_bytes(&data.backups()),
            logs: directory_bytes(&data.logs()),
            total: 0,
            spooled_files,
        };
        let parts = [sizes.database, sizes.log_ahead, sizes.vectors, sizes.spool, sizes.backups, sizes.logs];
        Self { total: parts.iter().sum(), ..sizes }
    }
}

/// The size of a file; 0 if it does not exist.
fn file_bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}

/// The total size of the files directly in a directory.
fn directory_bytes(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| entry.metadata().ok());
    sizes.filter(Metadata::is_file).map(|meta| meta.len()).sum()
}

/// The number of files whose name matches.
fn count_files(path: &Path, is_one: impl Fn(&str) -> bool) -> u64 {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let names = entries.filter(|entry| is_one(&entry.file_name().to_string_lossy()));
    names.count() as u64
}
