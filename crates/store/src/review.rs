//! Queries of the review of memories, and the memories that a person decided to keep.

use std::collections::HashSet;

use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::{Observation, StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ObservationId, ProjectId};

/// Why the review lists a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReviewReason {
    Suggested,
    Contradiction,
    Replaced,
    Duplicate,
    Missing,
    Unused,
}

impl ReviewReason {
    /// All reasons, in the order in which they are shown.
    pub const ALL: [Self; 6] =
        [Self::Suggested, Self::Contradiction, Self::Replaced, Self::Duplicate, Self::Missing, Self::Unused];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Suggested => "suggested",
            Self::Contradiction => "contradiction",
            Self::Replaced => "replaced",
            Self::Duplicate => "duplicate",
            Self::Missing => "missing",
            Self::Unused => "unused",
        }
    }

    /// Whether a memory with this reason can be kept as it is. A suggested or replaced one is changed instead.
    pub const fn can_be_kept(self) -> bool {
        !matches!(self, Self::Suggested | Self::Replaced)
    }
}

/// A kept memory with the one that it was compared with.
pub type KeptPair = (ObservationId, Option<ObservationId>);

/// The title of an observation, in lower case and without its final dot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TitleEntry {
    pub id: ObservationId,
    pub project: Option<ProjectId>,
    pub title: String,
}

/// Reads the index of titles alone, without the rows.
const TITLES_SQL: &str = "SELECT id, project_id, rtrim(lower(title), ' .!')
     FROM observations INDEXED BY observations_by_title ORDER BY project_id, rtrim(lower(title), ' .!')";

/// The condition names that of the index of lasting observations.
const DECISIONS_SQL: &str = "SELECT id FROM observations INDEXED BY observations_lasting
     WHERE (pinned = 1 OR type = 'decision') AND project_id = ?1 AND type = 'decision' AND wrong = 0
       AND replaced_by IS NULL
     ORDER BY created_at_epoch DESC LIMIT ?2";

/// Paths in the order of the index, which holds all that is asked for.
const PATHS_SQL: &str = "SELECT DISTINCT path FROM file_refs
     WHERE project_id = ?1 AND path > ?2 AND kind = 'observation' ORDER BY path LIMIT ?3";

const OF_PATH_SQL: &str = "SELECT created_at_epoch, row_id FROM file_refs
     WHERE project_id = ?1 AND path = ?2 AND kind = 'observation' LIMIT ?3";

impl StoreReader<'_> {
    /// The titles of all observations.
    pub fn observation_titles(&self) -> Result<Vec<TitleEntry>, StoreError> {
        let mut rows = self.0.prepare_cached(TITLES_SQL)?;
        let rows = rows.query_map([], |row| {
            Ok(TitleEntry { id: row.column(0)?, project: row.column(1)?, title: row.get(2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Decisions of a project that are neither wrong nor replaced, newest first.
    pub fn standing_decisions(&self, project: ProjectId, limit: u32) -> Result<Vec<Observation>, StoreError> {
        let mut rows = self.0.prepare_cached(DECISIONS_SQL)?;
        let ids = rows.query_map(params![project.sql(), limit], |row| row.column(0))?;
        let ids: Vec<ObservationId> = ids.collect::<Result<_, _>>()?;
        self.observations_by_id(&ids)
    }

    /// Up to `limit` paths that observations of a project refer to, after a path, in order.
    pub fn referenced_paths(
        &self,
        project: ProjectId,
        after: &str,
        limit: u32,
    ) -> Result<Vec<String>, StoreError> {
        let mut rows = self.0.prepare_cached(PATHS_SQL)?;
        let rows = rows.query_map(params![project.sql(), after, limit], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The observations that refer to exactly this path of a project, with their times.
    pub fn observations_of_path(
        &self,
        project: ProjectId,
        path: &str,
        limit: u32,
    ) -> Result<Vec<(Millis, ObservationId)>, StoreError> {
        let mut rows = self.0.prepare_cached(OF_PATH_SQL)?;
        let rows =
            rows.query_map(params![project.sql(), path, limit], |row| Ok((row.column(0)?, row.column(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The memories that were kept although the review listed them for this reason.
    pub fn kept_in_review(&self, reason: ReviewReason) -> Result<HashSet<KeptPair>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT observation_id, nullif(other_id, 0) FROM review_decisions WHERE reason = ?1",
        )?;
        let rows = rows.query_map([reason.as_str()], |row| Ok((row.column(0)?, row.column(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl StoreWriter<'_> {
    /// Records that a listed memory is to be kept.
    pub fn keep_in_review(
        &self,
        (id, other): KeptPair,
        reason: ReviewReason,
        now: Millis,
    ) -> Result<(), StoreError> {
        self.tx.execute(
            "INSERT INTO review_decisions (observation_id, reason, other_id, created_at_epoch) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO NOTHING",
            params![id.sql(), reason.as_str(), other.map_or(0, |other| other.0), now.sql()],
        )?;
        Ok(())
    }

    /// Takes the decision back. False if there was none.
    pub fn list_in_review_again(
        &self,
        (id, other): KeptPair,
        reason: ReviewReason,
    ) -> Result<bool, StoreError> {
        let removed = self.tx.execute(
            "DELETE FROM review_decisions WHERE observation_id = ?1 AND reason = ?2 AND other_id = ?3",
            params![id.sql(), reason.as_str(), other.map_or(0, |other| other.0)],
        )?;
        Ok(removed > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::observation;
    use crate::{NewRowContext, Store};

    #[test]
    fn review_reads_indexes_and_not_the_table() {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::open(&temp.path().join("claude-mem.db")).unwrap();
        let reads = store.read();
        for (sql, index) in [
            (TITLES_SQL, "USING COVERING INDEX observations_by_title"),
            (DECISIONS_SQL, "USING INDEX observations_lasting (project_id=?)"),
            (OF_PATH_SQL, "USING COVERING INDEX file_refs_by_path (project_id=? AND path=? AND kind=?)"),
            (PATHS_SQL, "USING COVERING INDEX file_refs_by_path (project_id=? AND path>?)"),
        ] {
            let plan = reads.query_plan(sql);
            assert!(plan.contains(index), "{plan}");
        }
    }

    #[test]
    fn kept_pair_is_stored_and_goes_with_its_memory() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(&temp.path().join("claude-mem.db")).unwrap();
        let place = NewRowContext::default();
        let (one, other) = store
            .write(|tx| {
                let one = tx.create_observation(&observation("The pump is blue", Millis(1)), &place)?;
                Ok((one, tx.create_observation(&observation("The pump is red", Millis(2)), &place)?))
            })
            .unwrap();
        let reason = ReviewReason::Duplicate;
        store.write(|tx| tx.keep_in_review((one, Some(other)), reason, Millis(1))).unwrap();
        // Keeping it twice changes nothing.
        store.write(|tx| tx.keep_in_review((one, Some(other)), reason, Millis(2))).unwrap();
        assert_eq!(store.read().kept_in_review(reason).unwrap(), HashSet::from([(one, Some(other))]));
        assert!(store.read().kept_in_review(ReviewReason::Missing).unwrap().is_empty());
        assert!(store.write(|tx| tx.list_in_review_again((one, Some(other)), reason)).unwrap());
        assert!(!store.write(|tx| tx.list_in_review_again((one, Some(other)), reason)).unwrap());
        assert!(store.read().kept_in_review(reason).unwrap().is_empty());
    }
}
