//! Changes that consolidation makes to observations: their text, their merging, their withdrawal and the
//! sessions that said them.

use rusqlite::params;

use super::{MemoryLevel, Observation, RowKind, StoreError, StoreReader, StoreWriter};
use crate::columns::{JsonList, ReadColumn, SqlColumn, name_column};
use crate::observations::content_hash;
use crate::row_values::RowValues;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ObservationId, ProjectId, SessionId};
use claude_mem_core::memory::{NewObservation, ObservationType, Origin};

/// Maximum observations with the same title that are compared.
const SAME_TITLE_ROWS_MAX: u32 = 8;
/// Maximum newest pitfalls of a project that are compared.
const PITFALL_ROWS_MAX: u32 = 50;

impl StoreReader<'_> {
    /// Own observations of a project with this title, whatever its case and final punctuation, oldest first.
    pub fn observations_titled(
        &self,
        project: ProjectId,
        title: &str,
    ) -> Result<Vec<Observation>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT id FROM observations WHERE project_id = ?1 AND rtrim(lower(title), ' .!') = rtrim(lower(?2), ' .!')
               AND member IS NULL ORDER BY id LIMIT ?3",
        )?;
        let ids = rows.query_map(params![project.sql(), title, SAME_TITLE_ROWS_MAX], |row| row.column(0))?;
        let ids = ids.collect::<Result<Vec<ObservationId>, _>>()?;
        self.observations_by_id(&ids)
    }

    /// The newest own observations of a project with this concept.
    pub fn observations_of_concept(
        &self,
        project: ProjectId,
        concept: &str,
    ) -> Result<Vec<Observation>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT id FROM observations WHERE project_id = ?1 AND member IS NULL AND concepts LIKE '%\"' || ?2 || '\"%'
             ORDER BY id DESC LIMIT ?3",
        )?;
        let ids = rows.query_map(params![project.sql(), concept, PITFALL_ROWS_MAX], |row| row.column(0))?;
        let ids = ids.collect::<Result<Vec<ObservationId>, _>>()?;
        self.observations_by_id(&ids)
    }

    /// All sessions that said an observation, the first one first.
    pub fn sessions_of_observation(&self, id: ObservationId) -> Result<Vec<SessionId>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT session_id FROM (
               SELECT 0 AS place, session_id FROM observations WHERE id = ?1 AND session_id IS NOT NULL
               UNION ALL SELECT 1, session_id FROM observation_sources WHERE observation_id = ?1)
             ORDER BY place, session_id",
        )?;
        Ok(rows.query_map([id.sql()], |row| row.column(0))?.collect::<Result<_, _>>()?)
    }
}

impl StoreWriter<'_> {
    /// Replaces the text of an observation by that of a new consolidation, and indexes it again.
    pub fn update_observation(
        &self,
        id: ObservationId,
        new: &NewObservation,
        level: MemoryLevel,
        read_tokens: u32,
        now: Millis,
    ) -> Result<(), StoreError> {
        let session = self.observation(id)?.session;
        RowValues::from_text(&new.text)
            .set("origin", new.origin.as_str())
            .set("level", level.as_str())
            .set("content_hash", content_hash(session, &new.text))
            .set("discovery_tokens", new.discovery_tokens)
            .set("read_tokens", read_tokens)
            .set("created_at_epoch", new.created_at.sql())
            .set("updated_at_epoch", now.max(new.created_at).sql())
            .update(self.tx, RowKind::Observation.table(), id.0)?;
        self.index_observation(id)
    }

    /// Records who wrote an observation: `local` or a model's name.
    pub fn set_observation_maker(&self, id: ObservationId, made_by: &str) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("UPDATE observations SET made_by = ?2 WHERE id = ?1")?
            .execute(params![id.sql(), name_column(made_by)])?;
        Ok(())
    }

    /// Merges `old` into `into`: its number, ledger, marks, claims and sessions follow, then its row goes.
    pub fn merge_observation(&self, old: ObservationId, into: ObservationId) -> Result<(), StoreError> {
        let (gone, kept) = (self.observation(old)?, self.observation(into)?);
        let level = if gone.level == MemoryLevel::User { gone.level } else { kept.level };
        self.tx
            .prepare_cached(
                "UPDATE observations SET pinned = max(pinned, ?2), wrong = max(wrong, ?3), level = ?4,
                   replaced_by = CASE WHEN replaced_by = ?5 THEN NULL ELSE replaced_by END WHERE id = ?1",
            )?
            .execute(params![into.sql(), gone.pinned, gone.wrong, level.as_str(), old.sql()])?;
        for sql in [
            "UPDATE observation_feedback SET row_id = ?2 WHERE kind = 'observation' AND row_id = ?1",
            "UPDATE observation_claims SET observation_id = ?2 WHERE observation_id = ?1",
            "UPDATE observations SET replaced_by = ?2 WHERE replaced_by = ?1 AND id <> ?2",
        ] {
            self.tx.prepare_cached(sql)?.execute([old.sql(), into.sql()])?;
        }
        for session in self.sessions_of_observation(old)? {
            self.add_observation_source(into, session)?;
        }
        self.set_successor(old, Some(into))?;
        self.delete_observation(old)
    }

    /// Gives an observation another type and voice, because somebody with a stronger voice said the same.
    pub fn set_type_and_origin(
        &self,
        id: ObservationId,
        kind: &ObservationType,
        origin: Origin,
        now: Millis,
    ) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "UPDATE observations SET type = ?2, origin = ?3, updated_at_epoch = max(?4, updated_at_epoch + 1)
                 WHERE id = ?1",
            )?
            .execute(params![id.sql(), kind.as_str(), origin.as_str(), now.sql()])?;
        self.index_observation(id)
    }

    /// Replaces the facts of an observation, and indexes it again.
    pub fn set_facts(&self, id: ObservationId, facts: Vec<String>, now: Millis) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "UPDATE observations SET facts = ?2, updated_at_epoch = max(?3, updated_at_epoch + 1) WHERE id = ?1",
            )?
            .execute(params![id.sql(), JsonList(facts), now.sql()])?;
        self.index_observation(id)
    }

    /// Removes an observation that its session no longer states. Its number says so from now on.
    pub fn withdraw_observation(&self, id: ObservationId) -> Result<(), StoreError> {
        self.set_successor(id, None)?;
        self.delete_observation(id)
    }

    fn delete_observation(&self, id: ObservationId) -> Result<(), StoreError> {
        self.deferred.flush(self.tx)?;
        self.tx.prepare_cached("DELETE FROM observations WHERE id = ?1")?.execute([id.sql()])?;
        Ok(())
    }

    /// Records that a further session said the same.
    pub fn add_observation_source(&self, id: ObservationId, session: SessionId) -> Result<(), StoreError> {
        if self.observation(id)?.session == Some(session) {
            return Ok(());
        }
        self.tx
            .prepare_cached(
                "INSERT INTO observation_sources (observation_id, session_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            )?
            .execute([id.sql(), session.sql()])?;
        self.count_sources(id)
    }

    /// Records that a session no longer says it. If it was the row's own session, the row goes over to
    /// another one that says it; false if there is none.
    pub fn remove_observation_source(
        &self,
        id: ObservationId,
        session: SessionId,
    ) -> Result<bool, StoreError> {
        let others: Vec<SessionId> =
            self.sessions_of_observation(id)?.into_iter().filter(|other| *other != session).collect();
        let Some(first) = others.first() else {
            return Ok(false);
        };
        self.tx
            .prepare_cached(
                "DELETE FROM observation_sources WHERE observation_id = ?1 AND session_id IN (?2, ?3)",
            )?
            .execute([id.sql(), session.sql(), first.sql()])?;
        self.tx
            .prepare_cached("UPDATE observations SET session_id = ?2 WHERE id = ?1 AND session_id IS NOT ?2")?
            .execute([id.sql(), first.sql()])?;
        self.tx
            .prepare_cached("DELETE FROM observation_claims WHERE observation_id = ?1 AND session_id = ?2")?
            .execute([id.sql(), session.sql()])?;
        self.count_sources(id)?;
        Ok(true)
    }

    fn count_sources(&self, id: ObservationId) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "UPDATE observations SET source_count =
                   (session_id IS NOT NULL) + (SELECT count(*) FROM observation_sources WHERE observation_id = ?1)
                 WHERE id = ?1",
            )?
            .execute([id.sql()])?;
        Ok(())
    }

    /// Clears the replacements that this decision took part in, so that they can be decided anew.
    pub fn clear_replacements(&self, id: ObservationId) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("UPDATE observations SET replaced_by = NULL WHERE replaced_by = ?1")?
            .execute([id.sql()])?;
        self.tx
            .prepare_cached(
                "UPDATE observations SET replaced_by = NULL WHERE id = ?1 AND replaced_by IS NOT NULL",
            )?
            .execute([id.sql()])?;
        Ok(())
    }
}
