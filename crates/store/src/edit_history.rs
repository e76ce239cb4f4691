//! Earlier versions of observations that a person edited.

use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::{Observation, StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ObservationId;

/// Maximum versions kept of one observation. The oldest is dropped.
const VERSIONS_MAX: u32 = 20;

/// What an observation said before one edit.
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
        Self {
            kind: row.kind.as_str().to_owned(),
            title: row.title.clone(),
            subtitle: row.subtitle.clone(),
            narrative: row.narrative.clone(),
            facts: row.facts.clone(),
            concepts: row.concepts.clone(),
        }
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
            params![row.id.sql(), body, now.sql()],
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
