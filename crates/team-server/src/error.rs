//! [`ServiceError`]: why a request fails, and [`StartError`]: why the service does not start.

use claude_mem_wire::ErrorCode;
use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

/// Why a request fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServiceError {
    /// The response has the code and the sentence.
    #[error("{1}")]
    Refused(ErrorCode, &'static str),
    /// Too many requests; come back after these seconds.
    #[error("too many requests")]
    TooMany(u64),
    /// Another transaction made the same thing first. Repeating it finds that.
    #[error("another request did the same at the same time")]
    Raced,
    #[error("{}", describe(.0))]
    Database(#[from] tokio_postgres::Error),
    #[error("no connection to the database: {}", describe_pool(.0))]
    Pool(#[from] PoolError),
    #[error("no random numbers: {0}")]
    Random(#[from] getrandom::Error),
}

impl ServiceError {
    pub(crate) const fn not_found(what: &'static str) -> Self {
        Self::Refused(ErrorCode::NotFound, what)
    }

    pub(crate) const fn bad_request(why: &'static str) -> Self {
        Self::Refused(ErrorCode::BadRequest, why)
    }

    pub(crate) const fn forbidden(why: &'static str) -> Self {
        Self::Refused(ErrorCode::Forbidden, why)
    }

    /// Whether the transaction lost against another one and may be repeated at once.
    pub(crate) fn is_conflict(&self) -> bool {
        let error = match self {
            Self::Raced => return true,
            Self::Database(error) => error,
            _ => return false,
        };
        let conflicts = [&SqlState::T_R_SERIALIZATION_FAILURE, &SqlState::T_R_DEADLOCK_DETECTED];
        error.code().is_some_and(|code| conflicts.contains(&code))
    }

    /// Whether the database is not there yet: no connection, or it says that it is starting.
    pub(crate) fn is_starting_database(&self) -> bool {
        match self {
            Self::Pool(PoolError::Backend(error)) => match error.code() {
                Some(code) => *code == SqlState::CANNOT_CONNECT_NOW,
                None => is_unreachable(error),
            },
            Self::Pool(PoolError::Timeout(_)) => true,
            _ => false,
        }
    }

    /// Whether a unique key exists already.
    pub(crate) fn is_duplicate(&self) -> bool {
        matches!(self, Self::Database(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION))
    }
}

/// Whether nothing listens there, or it went away; a certificate that is not accepted stays that way.
fn is_unreachable(error: &tokio_postgres::Error) -> bool {
    use std::io::ErrorKind;
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    source.is_some_and(|io| {
        matches!(
            io.kind(),
            ErrorKind::ConnectionRefused
                | ErrorKind::ConnectionReset
                | ErrorKind::NotFound
                | ErrorKind::TimedOut
                | ErrorKind::UnexpectedEof
        )
    })
}

/// The database's own message; the crate's `Display` leaves it out.
pub(crate) fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => format!("{} ({})", db.message(), db.code().code()),
        None => match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}

fn describe_pool(error: &PoolError) -> String {
    match error {
        PoolError::Backend(error) => describe(error),
        PoolError::Timeout(_) => "it did not answer in time".to_owned(),
        other => other.to_string(),
    }
}

/// Why the service does not start. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the database address is not valid: {0}")]
    BadAddress(String),
    #[error("cannot reach the database: {0}")]
    Unreachable(String),
    #[error("PostgreSQL {0} is too old; 13 or newer is required")]
    TooOld(String),
    #[error(
        "the role claude_mem_app is missing and {user} may not create it; an administrator of the database runs:\n  \
         CREATE ROLE claude_mem_app NOLOGIN; GRANT claude_mem_app TO \"{user}\";"
    )]
    NoRole { user: String },
    #[error("failed to create the tables: {0}")]
    Migration(String),
    #[error("row-level security is not in force: {0}; refusing to run")]
    NotIsolated(String),
    #[error("failed to set up the team: {0}")]
    Setup(String),
    #[error("{0}")]
    Tls(String),
    #[error(
        "without a certificate only an address of this machine is allowed; pass --cert and --key, or --behind-proxy"
    )]
    PlainText,
    #[error("cannot listen on {0}: {1}")]
    Listen(std::net::SocketAddr, std::io::Error),
    #[error("the public address is not valid: {0}")]
    BadPublicUrl(#[from] claude_mem_wire::LinkError),
    #[error("{0}")]
    Trial(String),
    #[error("failed to start the runtime: {0}")]
    Runtime(#[from] std::io::Error),
}
