//! How SQLite executes a query, for the tests of indexes.

use crate::StoreReader;

impl StoreReader<'_> {
    /// The plan of a query, one step per part.
    pub(crate) fn query_plan(&self, sql: &str) -> String {
        let mut rows = self.0.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps = rows.raw_query().mapped(|row| row.get::<_, String>(3)).map(Result::unwrap);
        steps.collect::<Vec<_>>().join("; ")
    }
}
