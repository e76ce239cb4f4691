//! What the data directory takes on disk.

use std::fs::Metadata;
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
    /// Events that could not be read.
    #[serde(skip)]
    pub(super) set_aside_files: u64,
}

impl Sizes {
    pub(super) fn of(data: &DataDir) -> Self {
        let ends = |end| move |name: &str| name.ends_with(end) && !name.starts_with('.');
        let spooled_files = files(&data.spool(), ends(".json"));
        let set_aside_files = files(&data.spool(), ends(".bad"));
        let sizes = Self {
            database: file(&data.db()),
            log_ahead: file(&with_suffix(&data.db(), "-wal")),
            vectors: file(&data.vectors_db()) + file(&with_suffix(&data.vectors_db(), "-wal")),
            spool: directory(&data.spool()),
            backups: directory(&data.backups()),
            logs: directory(&data.logs()),
            total: 0,
            spooled_files,
            set_aside_files,
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

/// Bytes of the files directly in it.
fn directory(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| entry.metadata().ok());
    sizes.filter(Metadata::is_file).map(|meta| meta.len()).sum()
}

/// How many have such a name.
fn files(path: &Path, is_one: impl Fn(&str) -> bool) -> u64 {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let names = entries.filter(|entry| is_one(&entry.file_name().to_string_lossy()));
    names.count() as u64
}

fn with_suffix(path: &Path, suffix: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
