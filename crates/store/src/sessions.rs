//! Sessions: one row per conversation of a client.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{PageRequest, RowFilter, RowPage, SessionStatus, StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn, id_column, name_column, path_column, state_column, text_column};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ClientSessionId, ProjectId, PublicId, SessionId};
use claude_mem_core::memory::Origin;

/// A session as stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionRow {
    pub id: SessionId,
    pub client: String,
    pub client_session: ClientSessionId,
    pub project: Option<ProjectId>,
    pub branch: Option<String>,
    pub transcript_path: Option<String>,
    /// The first prompt, which serves as the session's name.
    pub user_prompt: Option<String>,
    pub status: SessionStatus,
    pub prompt_counter: u32,
    pub created_at: Millis,
    pub last_activity: Millis,
    pub completed_at: Option<Millis>,
}

/// The fields of a session when it is first seen.
#[derive(Clone, Debug)]
pub struct NewSession<'a> {
    pub client: &'a str,
    pub client_session: &'a ClientSessionId,
    pub project: Option<ProjectId>,
    pub branch: Option<&'a str>,
    pub transcript_path: Option<&'a str>,
    pub origin: Origin,
    pub import_run: Option<i64>,
    pub at: Millis,
}

impl<'a> NewSession<'a> {
    /// A session that a client's hooks report, in no known project.
    pub const fn new(client: &'a str, client_session: &'a ClientSessionId, at: Millis) -> Self {
        Self {
            client,
            client_session,
            project: None,
            branch: None,
            transcript_path: None,
            origin: Origin::Agent,
            import_run: None,
            at,
        }
    }
}

const COLUMNS: &str =
    "SELECT id, client, content_session_id, project_id, branch, transcript_path, user_prompt,
    status, prompt_counter, created_at_epoch, last_activity_epoch, completed_at_epoch FROM sdk_sessions";

fn session(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        id: row.column(0)?,
        client: row.get(1)?,
        client_session: ClientSessionId(row.get(2)?),
        project: row.column(3)?,
        branch: row.get(4)?,
        transcript_path: row.get(5)?,
        user_prompt: row.get(6)?,
        status: SessionStatus::from_column(row.get_ref(7)?.as_str()?),
        prompt_counter: row.get(8)?,
        created_at: row.column(9)?,
        last_activity: row.column(10)?,
        completed_at: row.column(11)?,
    })
}

impl StoreReader<'_> {
    pub fn session(&self, id: SessionId) -> Result<SessionRow, StoreError> {
        let found = self
            .0
            .prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?
            .query_row([id.sql()], session)
            .optional()?;
        found.ok_or(StoreError::NoSuchRow { what: "session", id: id.0 })
    }

    /// The session with this client's id.
    pub fn session_of_client(
        &self,
        client: &str,
        id: &ClientSessionId,
    ) -> Result<Option<SessionRow>, StoreError> {
        Ok(self
            .0
            .prepare_cached(&format!("{COLUMNS} WHERE client = ?1 AND content_session_id = ?2"))?
            .query_row(params![client, id.0], session)
            .optional()?)
    }

    /// The newest session with this id, of any client.
    pub fn newest_session_with_id(&self, id: &ClientSessionId) -> Result<Option<SessionRow>, StoreError> {
        Ok(self
            .0
            .prepare_cached(&format!("{COLUMNS} WHERE content_session_id = ?1 ORDER BY id DESC LIMIT 1"))?
            .query_row([&id.0], session)
            .optional()?)
    }

    /// One's own sessions without ignored ones; newest first unless the filter says otherwise.
    pub fn sessions(&self, filter: &RowFilter, page: PageRequest) -> Result<RowPage<SessionRow>, StoreError> {
        let mut clause = RowFilter { session: None, ..filter.clone() }.base_clause();
        clause.and("status <> 'ignored' AND member IS NULL", []);
        if let Some(status) = filter.status {
            let status = rusqlite::types::Value::Text(status.as_str().to_owned());
            clause.and("status = ?", [status]);
        }
        if let Some(client) = &filter.client {
            clause.and("client = ?", [rusqlite::types::Value::Text(client.clone())]);
        }
        let sql = filter.page_sql(COLUMNS, "sdk_sessions", &mut clause, page);
        let mut statement = self.0.prepare_cached(&sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(clause.values()), session)?;
        Ok(RowPage::from_overfetch(rows.collect::<Result<_, _>>()?, page))
    }

    /// The clients of the user's own sessions, without ignored ones.
    pub fn session_clients(&self) -> Result<Vec<String>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT DISTINCT client FROM sdk_sessions WHERE status <> 'ignored' AND member IS NULL ORDER BY client",
        )?;
        Ok(rows.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Whether the session's transcript must not be read.
    pub fn is_transcript_closed(&self, id: SessionId) -> Result<bool, StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT transcript_closed <> 0 OR status = 'ignored' FROM sdk_sessions WHERE id = ?1",
            )?
            .query_row([id.sql()], |row| row.get(0))?)
    }

    /// Active sessions of one project or of all, last active before `before`, newest first.
    pub fn active_sessions(
        &self,
        project: Option<ProjectId>,
        before: Millis,
    ) -> Result<Vec<SessionRow>, StoreError> {
        let mut statement = self.0.prepare_cached(&format!(
            "{COLUMNS} WHERE status = 'active' AND (?1 IS NULL OR project_id = ?1) AND last_activity_epoch < ?2
             ORDER BY last_activity_epoch DESC LIMIT ?3"
        ))?;
        let rows = statement.query_map(
            params![project.sql(), before.sql(), claude_mem_core::limits::PAGE_ROWS_MAX],
            session,
        )?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Active sessions without activity since `before`, the longest idle first, starting after the
    /// session that `after` names.
    pub fn idle_sessions(
        &self,
        before: Millis,
        after: Option<(Millis, SessionId)>,
    ) -> Result<Vec<SessionRow>, StoreError> {
        let (at, id) = after.unwrap_or((Millis(i64::MIN), SessionId(i64::MIN)));
        let mut statement = self.0.prepare_cached(&format!(
            "{COLUMNS} WHERE status = 'active' AND last_activity_epoch < ?1
               AND (last_activity_epoch, id) > (?2, ?3)
             ORDER BY last_activity_epoch, id LIMIT ?4"
        ))?;
        let rows = statement.query_map(
            params![before.sql(), at.sql(), id.sql(), claude_mem_core::limits::PAGE_ROWS_MAX],
            session,
        )?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The compressor's state after the session's last episode.
    pub fn session_carry(&self, id: SessionId) -> Result<Option<String>, StoreError> {
        Ok(self.0.query_row("SELECT carry FROM sdk_sessions WHERE id = ?1", [id.sql()], |row| row.get(0))?)
    }

    pub fn session_rolling_summary(&self, id: SessionId) -> Result<Option<String>, StoreError> {
        Ok(self.0.query_row("SELECT rolling_summary FROM sdk_sessions WHERE id = ?1", [id.sql()], |row| {
            row.get(0)
        })?)
    }
}

impl StoreWriter<'_> {
    /// Finds or creates the session and fills in what was unknown. An ignored session stays
    /// ignored.
    pub fn ensure_session(&self, new: &NewSession<'_>) -> Result<SessionId, StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO sdk_sessions (uid, client, content_session_id, project_id, branch, transcript_path,
                   origin, import_run, created_at_epoch, last_activity_epoch)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)
                 ON CONFLICT (client, content_session_id) DO UPDATE SET
                   project_id = coalesce(project_id, excluded.project_id),
                   branch = coalesce(excluded.branch, branch),
                   transcript_path = coalesce(excluded.transcript_path, transcript_path),
                   last_activity_epoch = max(last_activity_epoch, excluded.last_activity_epoch)",
            )?
            .execute(params![
                PublicId::new().sql(),
                name_column(new.client),
                id_column(&new.client_session.0),
                new.project.sql(),
                new.branch.map(name_column),
                new.transcript_path.map(path_column),
                new.origin.as_str(),
                new.import_run,
                new.at.sql()
            ])?;
        let mut id = self
            .tx
            .prepare_cached("SELECT id FROM sdk_sessions WHERE client = ?1 AND content_session_id = ?2")?;
        let known = params![name_column(new.client), id_column(&new.client_session.0)];
        Ok(id.query_row(known, |row| row.column(0))?)
    }

    /// Sets the status, unless the session is ignored. `Active` clears the end time: clients resume
    /// sessions that had ended.
    pub fn set_session_status(
        &self,
        id: SessionId,
        status: SessionStatus,
        at: Millis,
    ) -> Result<(), StoreError> {
        let completed =
            matches!(status, SessionStatus::Completed | SessionStatus::Failed | SessionStatus::Interrupted);
        self.tx
            .prepare_cached(
                "UPDATE sdk_sessions SET status = ?2, completed_at_epoch = CASE WHEN ?3 THEN ?4 END
                 WHERE id = ?1 AND status <> 'ignored'",
            )?
            .execute(params![id.sql(), status.as_str(), completed, at.sql()])?;
        Ok(())
    }

    pub fn set_session_carry(&self, id: SessionId, carry: &str) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("UPDATE sdk_sessions SET carry = ?2 WHERE id = ?1")?
            .execute(params![id.sql(), state_column(carry)])?;
        Ok(())
    }

    pub fn set_session_rolling_summary(&self, id: SessionId, summary: &str) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("UPDATE sdk_sessions SET rolling_summary = ?2 WHERE id = ?1")?
            .execute(params![id.sql(), text_column(summary)])?;
        Ok(())
    }

    /// Marks the session as interrupted if it had no activity since `before` and has no queued
    /// events.
    pub fn interrupt_idle_session(&self, id: SessionId, before: Millis) -> Result<bool, StoreError> {
        let mut interrupt = self.tx.prepare_cached(
            "UPDATE sdk_sessions SET status = 'interrupted', completed_at_epoch = last_activity_epoch
             WHERE id = ?1 AND status = 'active' AND last_activity_epoch < ?2
               AND NOT EXISTS (SELECT 1 FROM pending_messages AS p
                 WHERE p.client = sdk_sessions.client AND p.session = sdk_sessions.content_session_id
                   AND p.state IN ('waiting', 'leased'))",
        )?;
        Ok(interrupt.execute(params![id.sql(), before.sql()])? == 1)
    }
}
