//! Earlier versions of observations that a person edited.

use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::{Observation, StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn, state_column};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ObservationId;
use claude_mem_core::memory::ObservationText;

/// Maximum versions kept of one observation. The oldest is dropped.
const VERSIONS_MAX: u32 = 20;

/// The text of an observation before one edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ObservationVersion {
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub subtitle: String,
    pub narrative: String,
    pub facts: Vec<String>,
    pub concepts: Vec<String>,
}

impl From<&Observation> for ObservationVersion {
    fn from(row: &Observation) -> Self {
        let ObservationText {
            kind,
            title,
            subtitle,
            narrative,
            facts,
            concepts,
            files_read: _,
            files_modified: _,
        } = row.text.clone();
        Self { kind: kind.as_str().to_owned(), title, subtitle, narrative, facts, concepts }
    }
}

impl StoreReader<'_> {
    /// The versions before each edit with the times of the edits, newest first.
    pub fn observation_versions(
        &self,
        id: ObservationId,
    ) -> Result<Vec<(Millis, ObservationVersion)>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT created_at_epoch, body FROM observation_edits WHERE observation_id = ?1 ORDER BY id DESC",
        )?;
        let rows = rows.query_map([id.sql()], |row| Ok((row.column(0)?, row.get::<_, String>(1)?)))?;
        let mut found = Vec::new();
        for row in rows {
            let (at, body): (Millis, String) = row?;
            found.push((at, serde_json::from_str(&body)?));
        }
        Ok(found)
    }
}

impl StoreWriter<'_> {
    /// Keeps what an observation says, before it is edited.
    pub(super) fn record_version(&self, row: &Observation, now: Millis) -> Result<(), StoreError> {
        let body = serde_json::to_string(&ObservationVersion::from(row))?;
        self.tx.execute(
            "INSERT INTO observation_edits (observation_id, body, created_at_epoch) VALUES (?1, ?2, ?3)",
            params![row.id.sql(), state_column(&body), now.sql()],
        )?;
        self.tx.execute(
            "DELETE FROM observation_edits WHERE observation_id = ?1 AND id NOT IN
               (SELECT id FROM observation_edits WHERE observation_id = ?1 ORDER BY id DESC LIMIT ?2)",
            params![row.id.sql(), VERSIONS_MAX],
        )?;
        Ok(())
    }

    /// Deletes up to `rows_max` versions that were replaced before `before`.
    pub fn purge_versions(&self, before: Millis, rows_max: u32) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "DELETE FROM observation_edits WHERE id IN
               (SELECT id FROM observation_edits WHERE created_at_epoch < ?1 LIMIT ?2)",
            params![before.sql(), rows_max],
        )?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::observation;
    use crate::{NewRowContext, ObservationEdit, RowId, RowKind, Store};

    #[test]
    fn versions_are_kept_newest_first_and_go_with_the_row() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(&dir.path().join("claude-mem.db")).unwrap();
        let place = NewRowContext { level: crate::MemoryLevel::User, ..NewRowContext::default() };
        let new = observation("zero", Millis(1));
        let id = store.write(|tx| tx.create_observation(&new, &place)).unwrap();
        let mut edit = |title: &str, pinned: bool, at: i64| {
            let edit = ObservationEdit {
                title: Some(title.to_owned()),
                pinned: Some(pinned),
                ..ObservationEdit::default()
            };
            store.write(|tx| tx.edit_observation(id, &edit, Millis(at))).unwrap();
        };
        for number in 1..=VERSIONS_MAX + 2 {
            edit(&format!("version {number}"), false, 10 + i64::from(number));
        }
        // A mark is not a version.
        edit(&format!("version {}", VERSIONS_MAX + 2), true, 90);
        let titles = |store: &Store| -> Vec<String> {
            let versions = store.read().observation_versions(id).unwrap();
            versions.into_iter().map(|(_, version)| version.title).collect()
        };
        let kept = titles(&store);
        assert_eq!(kept.len(), VERSIONS_MAX as usize);
        assert_eq!(kept[0], format!("version {}", VERSIONS_MAX + 1));
        store.write(|tx| tx.purge_versions(Millis(20), 100)).unwrap();
        assert!(titles(&store).len() < kept.len());
        store.write(|tx| tx.forget(RowId::new(RowKind::Observation, id.0), Millis(100))).unwrap();
        assert!(titles(&store).is_empty(), "a forgotten text is nowhere");
    }
}
