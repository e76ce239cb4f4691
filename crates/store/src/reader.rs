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

    /// How SQLite executes a query, one step per part.
    #[cfg(test)]
    pub(crate) fn query_plan(&self, sql: &str) -> String {
        let mut rows = self.0.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps = rows.raw_query().mapped(|row| row.get::<_, String>(3)).map(Result::unwrap);
        steps.collect::<Vec<_>>().join("; ")
    }
}
