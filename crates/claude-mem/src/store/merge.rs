//! The full-text index in few pieces.
//!
//! Every transaction adds a piece to it, and a word is looked up in each of them. SQLite merges
//! pieces of like size as it goes and leaves some fifteen to a large index; put into one, a search
//! finds its words several times as fast.

use super::{Reads, Store, StoreError};

/// So few cost nothing that is noticed.
const PIECES_MAX: usize = 3;
/// Pages of the index that one step writes: some 20 ms of work.
const STEP_PAGES: i64 = 200;
/// All is written anew for the sake of pieces that are together at least this part of the largest:
/// over the years a text is rewritten some sixteen times, however large the index becomes.
const WORTH_A_MERGE: u64 = 16;

impl Reads<'_> {
    /// Whether enough has come since that writing all of it anew pays.
    pub fn is_index_worth_a_merge(&self) -> Result<bool, StoreError> {
        Ok(is_worth_a_merge(&self.index_pieces()?))
    }

    /// The sizes of its pieces, in pages, nearly.
    fn index_pieces(&self) -> Result<Vec<u64>, StoreError> {
        let mut pieces = self
            .0
            .prepare_cached("SELECT count(*) FROM texts_fts_idx GROUP BY segid")?;
        let pieces = pieces.query_map([], |row| row.get(0))?;
        Ok(pieces.collect::<Result<_, _>>()?)
    }
}

impl Store {
    /// One step of putting the index into one piece. True if there is more to do.
    pub fn merge_index(&mut self) -> Result<bool, StoreError> {
        self.write(|writes| {
            let before = writes.tx.total_changes();
            // Below zero: pieces of whatever size.
            writes
                .tx
                .prepare_cached("INSERT INTO texts_fts(texts_fts, rank) VALUES ('merge', ?1)")?
                .execute([-STEP_PAGES])?;
            // The command itself is one.
            Ok(writes.tx.total_changes() - before > 1)
        })
    }
}

fn is_worth_a_merge(pieces: &[u64]) -> bool {
    let largest = pieces.iter().copied().max().unwrap_or(0);
    let others = pieces.iter().sum::<u64>() - largest;
    pieces.len() > PIECES_MAX && others * WORTH_A_MERGE >= largest
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
