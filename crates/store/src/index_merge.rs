//! Merges the segments of the full-text index.
//!
//! Every transaction adds a segment, and a term is looked up in each of them. FTS5 merges segments
//! of similar size by itself, which leaves about fifteen in a large index. With a single segment, a
//! search finds its terms several times as fast.

use super::{Store, StoreError, StoreReader};

/// Up to this many segments have no noticeable cost.
const SEGMENTS_MAX: usize = 3;
/// Index pages that one merge step writes: about 20 ms of work.
const MERGE_STEP_PAGES: i64 = 200;
/// A full merge is worthwhile when the other segments together are at least 1/16 of the largest.
/// Over the years a document is then rewritten about sixteen times, however large the index
/// becomes.
const MERGE_RATIO: u64 = 16;

impl StoreReader<'_> {
    /// Whether enough was added since the last full merge to repeat it.
    pub fn needs_index_merge(&self) -> Result<bool, StoreError> {
        Ok(is_merge_worthwhile(&self.segment_sizes()?))
    }

    /// The approximate size of each segment, in pages.
    fn segment_sizes(&self) -> Result<Vec<u64>, StoreError> {
        let mut statement = self.0.prepare_cached("SELECT count(*) FROM texts_fts_idx GROUP BY segid")?;
        let pieces = statement.query_map([], |row| row.get(0))?;
        Ok(pieces.collect::<Result<_, _>>()?)
    }
}

impl Store {
    /// Runs one merge step. True if there is more to do.
    pub fn merge_index_step(&mut self) -> Result<bool, StoreError> {
        self.write(|writes| {
            let before = writes.tx.total_changes();
            // A negative number merges segments of any size.
            writes
                .tx
                .prepare_cached("INSERT INTO texts_fts(texts_fts, rank) VALUES ('merge', ?1)")?
                .execute([-MERGE_STEP_PAGES])?;
            // The command itself counts as one change.
            Ok(writes.tx.total_changes() - before > 1)
        })
    }
}

fn is_merge_worthwhile(pieces: &[u64]) -> bool {
    let largest = pieces.iter().copied().max().unwrap_or(0);
    let others = pieces.iter().sum::<u64>() - largest;
    pieces.len() > SEGMENTS_MAX && others * MERGE_RATIO >= largest
}

#[cfg(test)]
#[path = "index_merge_tests.rs"]
mod tests;
