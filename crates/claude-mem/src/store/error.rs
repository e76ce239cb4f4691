//! What can go wrong with the database, as decisions the caller can take.

use rusqlite::ErrorCode;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process is writing, or there was no time left. Try again, or spool.
    #[error("the database is busy")]
    Busy,
    #[error("the database file is damaged")]
    Damaged,
    #[error("the disk is full")]
    DiskFull,
    /// The disk failed to read or to write, and did not say that it is full.
    #[error("the disk failed under the database ({0}); it may be full or about to fail")]
    Disk(rusqlite::Error),
    #[error("the database cannot be written: it or its directory is read-only")]
    ReadOnly,
    /// Only where somebody looked and found no file: nothing was ever remembered here.
    #[error("there is no database yet")]
    Missing,
    /// It is there, or its log is, and the system does not let us have it.
    #[error("the database is there and cannot be opened ({0})")]
    CannotOpen(rusqlite::Error),
    /// Somebody else's file under our name. Never opened, never overwritten.
    #[error(
        "this database was made by another program; `claude-mem import claude-mem-db` takes it in"
    )]
    Foreign,
    #[error(
        "this database is of schema {found}, newer than the {known} this program knows: update claude-mem"
    )]
    Newer { found: u32, known: u32 },
    /// Hooks never migrate; the worker and the commands do.
    #[error(
        "this database is of schema {found} and must be brought to {known} first: run `claude-mem status`"
    )]
    Older { found: u32, known: u32 },
    #[error("{what} {id} is not there")]
    NoSuchRow { what: &'static str, id: i64 },
    /// The lease ran out and somebody else has taken the work.
    #[error("the lease on these events is no longer ours")]
    LeaseLost,
    #[error("{0}: {1}")]
    Io(String, std::io::Error),
    #[error("stored JSON does not read: {0}")]
    Json(#[from] serde_json::Error),
    #[error("sqlite: {0}")]
    Other(rusqlite::Error),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::OperationInterrupted,
            ) => Self::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged,
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            // Of a file that is not there, `open` knows before SQLite is asked. This is one that
            // may not be opened, a disk that became read-only, or too many open files.
            Some(ErrorCode::CannotOpen) => Self::CannotOpen(error),
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::SystemIoFailure) if has_no_room(&error) => Self::DiskFull,
            Some(ErrorCode::SystemIoFailure) => Self::Disk(error),
            _ => Self::Other(error),
        }
    }
}

/// A full disk comes as an I/O error where the log's index has to grow.
fn has_no_room(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

impl StoreError {
    /// Whether it lies in the machine and not in what is stored: the same may go well later.
    pub const fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Busy
                | Self::DiskFull
                | Self::Disk(_)
                | Self::ReadOnly
                | Self::CannotOpen(_)
                | Self::Io(..)
        )
    }

    pub(crate) fn io(what: impl std::fmt::Display, error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::DiskFull,
            std::io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            _ => Self::Io(what.to_string(), error),
        }
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
