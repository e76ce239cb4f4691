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
    #[error("the database cannot be written: it or its directory is read-only")]
    ReadOnly,
    #[error("there is no database yet")]
    Missing,
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
            Some(ErrorCode::CannotOpen) => Self::Missing,
            // A write that fails half-way on a full or broken disk comes as an I/O error.
            Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => Self::DiskFull,
            _ => Self::Other(error),
        }
    }
}

impl StoreError {
    pub(crate) fn io(what: impl std::fmt::Display, error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::DiskFull,
            std::io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            _ => Self::Io(what.to_string(), error),
        }
    }
}
