//! Bounds that several files of this crate share.

/// Retries after the client has changed one of its files while we were editing it.
pub(crate) const CLIENT_FILE_TRIES: u32 = 10;
