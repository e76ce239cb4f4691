//! [`StoreError`]: database failures, as decisions the caller can take.

use rusqlite::ErrorCode;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process is writing, or the time limit is used up. Retry later, or spool.
    #[error("the database is busy")]
    Busy,
    #[error("the database file is corrupt")]
    Corrupt,
    #[error("the disk is full")]
    DiskFull,
    /// Reading or writing failed, and the system did not report a full disk.
    #[error("disk I/O error in the database ({0}); the disk may be full or failing")]
    DiskIo(rusqlite::Error),
    #[error("the database cannot be written: it or its directory is read-only")]
    ReadOnly,
    /// No file was found: nothing has been recorded here yet.
    #[error("there is no database yet")]
    Missing,
    /// The file or its write-ahead log exists, and the system refuses to open it.
    #[error("the database exists but cannot be opened ({0})")]
    CannotOpen(rusqlite::Error),
    /// The file belongs to another program. It is never opened or overwritten.
    #[error("this database belongs to another program; import it with `claude-mem import claude-mem-db`")]
    Foreign,
    #[error(
        "the database schema (version {found}) is newer than this program's ({known}): update claude-mem"
    )]
    Newer { found: u32, known: u32 },
    /// Hooks never migrate; the worker and the commands do.
    #[error(
        "the database schema (version {found}) is older than this program's ({known}): run `claude-mem status` to migrate it"
    )]
    Older { found: u32, known: u32 },
    #[error("{what} {id} not found")]
    NoSuchRow { what: &'static str, id: i64 },
    /// The row has changed since the version that the change was made from.
    #[error("{what} {id} was changed meanwhile")]
    Conflict { what: &'static str, id: i64 },
    /// Another member's row can be hidden or marked as wrong here; its text, and what it means to the user, stay.
    #[error("{what} {id} was recorded by another member of the team")]
    OthersRow { what: &'static str, id: i64 },
    /// The lease expired and another worker took the events.
    #[error("the lease on these events was lost")]
    LeaseLost,
    #[error("{0}: {1}")]
    Io(String, std::io::Error),
    #[error("stored JSON is invalid: {0}")]
    Json(#[from] serde_json::Error),
    #[error("sqlite: {0}")]
    Other(rusqlite::Error),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::OperationInterrupted) => {
                Self::Busy
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt,
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            // `open` reports a missing file before SQLite is called. This is a file without
            // permission, a disk that became read-only, or too many open files.
            Some(ErrorCode::CannotOpen) => Self::CannotOpen(error),
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::SystemIoFailure) if is_disk_full(&error) => Self::DiskFull,
            Some(ErrorCode::SystemIoFailure) => Self::DiskIo(error),
            _ => Self::Other(error),
        }
    }
}

/// SQLite reports a full disk as an I/O error when it cannot grow the WAL index.
fn is_disk_full(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

impl StoreError {
    /// Whether the cause is the environment and not the stored data, so that a retry may succeed.
    pub const fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Busy
                | Self::DiskFull
                | Self::DiskIo(_)
                | Self::ReadOnly
                | Self::CannotOpen(_)
                | Self::Io(..)
        )
    }

    /// Whether the row itself is the cause, so that the same row fails again.
    pub fn is_rejected_row(&self) -> bool {
        use ErrorCode::{ConstraintViolation, TooBig, TypeMismatch};
        match self {
            Self::Json(_) => true,
            Self::Other(e) => {
                matches!(e.sqlite_error_code(), Some(ConstraintViolation | TooBig | TypeMismatch))
            }
            _ => false,
        }
    }

    pub fn io(what: impl std::fmt::Display, error: std::io::Error) -> Self {
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
