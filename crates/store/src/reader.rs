//! [`StoreReader`]: the handle that all queries are methods of, one file per noun.

use rusqlite::Connection;

/// All queries. Borrowed from a `Store` or from a running change.
#[derive(Debug)]
pub struct StoreReader<'c>(pub(crate) &'c Connection);

impl StoreReader<'_> {
    /// A second reader on the same connection.
    #[must_use]
    pub fn reborrow(&self) -> Self {
        Self(self.0)
    }
}
