//! Rebuilds indexes that do not agree with their tables.
//!
//! Indexes and the full-text index follow from the tables, so that their damage loses nothing. Whatever else is damaged
//! is left to recovery (`recovery.rs`).

use super::{Store, StoreError};

/// The full-text index; its tables begin with this name.
const FTS_NAME: &str = "texts_fts";

impl Store {
    /// Rebuilds all indexes if nothing else is damaged. True if that was necessary. `Corrupt`: tables are damaged, or
    /// rebuilding did not help.
    pub fn rebuild_damaged_indexes(&mut self) -> Result<bool, StoreError> {
        let problems = self.single_problems()?;
        if problems.is_empty() && self.is_fts_consistent()? {
            return Ok(false);
        }
        let (indexes, full_text) = (self.index_roots(false)?, self.index_roots(true)?);
        let is_in_tree = |problem: &str| {
            tree_root(problem).is_some_and(|root| indexes.contains(&root) || full_text.contains(&root))
        };
        let is_of_index = |problem: &String| {
            // Pages that a damaged tree no longer names count as unused.
            problem.contains(" index ") || problem.ends_with("never used") || is_in_tree(problem)
        };
        if !problems.iter().all(is_of_index) {
            return Err(StoreError::Corrupt);
        }
        self.conn.execute_batch("REINDEX")?;
        self.rebuild_fts()?;
        match self.integrity_problems()?.as_slice() {
            [] => Ok(true),
            _ => Err(StoreError::Corrupt),
        }
    }

    /// The problems one by one: SQLite reports those of pages as one text with a heading.
    fn single_problems(&self) -> Result<Vec<String>, StoreError> {
        let found = self.integrity_problems()?;
        let lines = found.iter().flat_map(|text| text.lines());
        Ok(lines.filter(|line| !line.starts_with("***")).map(str::to_owned).collect())
    }

    /// The first pages of all indexes, or of the tables of the full-text index.
    fn index_roots(&self, full_text: bool) -> Result<Vec<i64>, StoreError> {
        let mut named = self.conn.prepare(
            "SELECT rootpage FROM sqlite_schema WHERE rootpage > 0
               AND iif(?1, substr(name, 1, ?2) = ?3, type = 'index')",
        )?;
        let roots = named.query_map((full_text, FTS_NAME.len(), FTS_NAME), |row| row.get(0))?;
        Ok(roots.collect::<Result<_, _>>()?)
    }
}

/// The first page of the tree that SQLite's message is about: `Tree 12 page 34 cell 5: …`.
fn tree_root(problem: &str) -> Option<i64> {
    problem.strip_prefix("Tree ")?.split(' ').next()?.parse().ok()
}

#[cfg(test)]
#[path = "index_repair_tests.rs"]
mod tests;
