//! Snapshots of a session's memories before they are distilled again, so that this can be undone.
//!
//! A snapshot belongs to a run, like the rows of an import. Forgetting a row removes the snapshots of its
//! sessions: they hold its text.

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RowId, RowKind, StoreError, StoreReader, StoreWriter};
use crate::columns::SqlColumn;
use crate::whole_row::WholeRow;
use claude_mem_core::ids::{ObservationId, SessionId};

/// The rows of a session.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SessionSnapshot {
    observations: Vec<WholeRow>,
    claims: Vec<WholeRow>,
    links: Vec<(String, i64)>,
    accounts: Vec<WholeRow>,
    open_items: Vec<WholeRow>,
    #[serde(default)]
    summaries: Vec<WholeRow>,
    /// The observations include those that models wrote. Snapshots of earlier versions do not.
    #[serde(default)]
    with_models: bool,
}

impl StoreReader<'_> {
    /// Whether this run has already saved a snapshot of the session.
    pub fn has_session_snapshot(&self, run: i64, session: SessionId) -> Result<bool, StoreError> {
        let mut found = self
            .0
            .prepare_cached("SELECT 1 FROM session_snapshots WHERE import_run = ?1 AND session_id = ?2")?;
        Ok(found.exists(params![run, session.sql()])?)
    }

    /// The sessions of which a run has saved snapshots.
    pub fn count_session_snapshots(&self, run: i64) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM session_snapshots WHERE import_run = ?1";
        Ok(self.0.prepare_cached(sql)?.query_row([run], |row| row.get(0))?)
    }

    /// Whether a model wrote observations of this session.
    pub fn has_model_observations(&self, session: SessionId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM observations WHERE session_id = ?1 AND made_by NOT IN ('local', 'hand')";
        Ok(self.0.prepare_cached(sql)?.exists([session.sql()])?)
    }

    /// Observations of a session that its claims may have made.
    pub fn local_observations(&self, session: SessionId) -> Result<Vec<ObservationId>, StoreError> {
        let sql = "SELECT id FROM observations WHERE session_id = ?1 AND made_by = 'local' ORDER BY id";
        self.observation_ids(sql, session)
    }

    /// Observations of a session that no person saved.
    fn made_observations(&self, session: SessionId) -> Result<Vec<ObservationId>, StoreError> {
        let sql = "SELECT id FROM observations WHERE session_id = ?1 AND made_by <> 'hand' ORDER BY id";
        self.observation_ids(sql, session)
    }

    fn observation_ids(&self, sql: &str, session: SessionId) -> Result<Vec<ObservationId>, StoreError> {
        let mut rows = self.0.prepare_cached(sql)?;
        let ids = rows.query_map([session.sql()], |row| row.get(0).map(ObservationId))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    /// Whether a model wrote the memories of this session, or of a part of it, even if it kept nothing.
    pub fn is_written_by_model(&self, session: SessionId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM session_claims WHERE session_id = ?1 AND by_model";
        let has_claims = self.0.prepare_cached(sql)?.exists([session.sql()])?;
        Ok(has_claims || self.has_model_observations(session)?)
    }
}

impl StoreWriter<'_> {
    /// Saves what a session has left behind.
    pub fn save_session_snapshot(&self, run: i64, session: SessionId) -> Result<(), StoreError> {
        let of = |table: &str, also: &str| {
            WholeRow::load_all(
                self.tx,
                &format!("SELECT * FROM {table} WHERE session_id = ?1{also}"),
                session,
            )
        };
        let snapshot = SessionSnapshot {
            observations: of("observations", " AND made_by <> 'hand'")?,
            claims: of("session_claims", "")?,
            links: self.claim_links(session)?.into_iter().map(|(claim, id)| (claim, id.0)).collect(),
            accounts: of("session_accounts", "")?,
            open_items: of("open_items", "")?,
            summaries: of("session_summaries", "")?,
            with_models: true,
        };
        self.tx.execute(
            "INSERT INTO session_snapshots (import_run, session_id, body) VALUES (?1, ?2, ?3)",
            params![run, session.sql(), serde_json::to_string(&snapshot)?],
        )?;
        Ok(())
    }

    /// Restores one session of the run; `None` if no snapshot is left. Returns the restored rows.
    pub(super) fn restore_next_snapshot(&self, run: i64) -> Result<Option<usize>, StoreError> {
        let next: Option<(i64, i64, String)> = self
            .tx
            .query_row(
                "SELECT id, session_id, body FROM session_snapshots WHERE import_run = ?1 ORDER BY id DESC LIMIT 1",
                [run],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()?;
        let Some((id, session, body)) = next else {
            return Ok(None);
        };
        let rows = self.restore_session(SessionId(session), &serde_json::from_str(&body)?)?;
        self.tx.execute("DELETE FROM session_snapshots WHERE id = ?1", [id])?;
        Ok(Some(rows.max(1)))
    }

    fn restore_session(&self, session: SessionId, old: &SessionSnapshot) -> Result<usize, StoreError> {
        let was = |id: ObservationId| old.observations.iter().any(|row| row.number("id") == Some(id.0));
        let rows = if old.with_models {
            self.made_observations(session)?
        } else {
            self.local_observations(session)?
        };
        for id in rows {
            let row = self.observation(id)?;
            let is_touched = row.edited || row.pinned || row.wrong;
            if !was(id) && !is_touched && !self.remove_observation_source(id, session)? {
                self.withdraw_observation(id)?;
            }
        }
        self.tx.execute("DELETE FROM observation_claims WHERE session_id = ?1", [session.sql()])?;
        let mut restored = 0;
        for row in &old.observations {
            restored += usize::from(self.restore_observation(row)?);
        }
        self.clear_session_claims(session)?;
        self.tx.execute("DELETE FROM session_accounts WHERE session_id = ?1", [session.sql()])?;
        self.tx.execute("DELETE FROM open_items WHERE session_id = ?1", [session.sql()])?;
        for (table, rows) in [
            ("session_claims", &old.claims),
            ("session_accounts", &old.accounts),
            ("open_items", &old.open_items),
        ] {
            for row in rows {
                row.insert(self.tx, table)?;
            }
        }
        for row in &old.summaries {
            self.restore_summary(row)?;
        }
        for row in &old.accounts {
            if let Some(id) = row.number("id") {
                self.reindex_row(RowId::new(RowKind::Account, id))?;
            }
        }
        for (claim, id) in &old.links {
            self.link_claim(session, claim, ObservationId(*id))?;
        }
        Ok(restored)
    }

    /// Puts the text of a summary back, unless a person has forgotten it since.
    fn restore_summary(&self, row: &WholeRow) -> Result<(), StoreError> {
        let Some(id) = row.number("id") else {
            return Ok(());
        };
        let handle = RowId::new(RowKind::Summary, id);
        if self.row_exists(handle)? {
            row.update(self.tx, RowKind::Summary.table(), id)?;
            self.reindex_row(handle)?;
        }
        Ok(())
    }

    /// Puts an observation back as it was, unless a person has changed or forgotten it since.
    fn restore_observation(&self, row: &WholeRow) -> Result<bool, StoreError> {
        let (Some(id), Some(uid)) = (row.number("id"), row.value("uid").and_then(Value::as_str)) else {
            return Ok(false);
        };
        if self.is_tombstone(&format!("uid:{uid}"))? {
            return Ok(false);
        }
        let handle = RowId::new(RowKind::Observation, id);
        if self.row_exists(handle)? {
            if self.observation(ObservationId(id))?.edited {
                return Ok(false);
            }
            row.update(self.tx, "observations", id)?;
        } else {
            self.tx.execute("DELETE FROM row_successors WHERE kind = 'observation' AND old_id = ?1", [id])?;
            row.insert(self.tx, "observations")?;
        }
        self.reindex_row(handle)?;
        self.record_change(handle)?;
        Ok(true)
    }
}
