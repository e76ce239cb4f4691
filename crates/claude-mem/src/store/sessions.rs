//! One row per conversation of a client.

use rusqlite::{OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use super::{Filter, Page, Paged, Reads, StoreError, Writes};
use crate::clock::Millis;
use crate::ids::{ClientSessionId, ProjectId, PublicId, SessionId};
use crate::memory::Origin;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SessionStatus {
    Active,
    Completed,
    Failed,
    /// Nothing heard of it for a day, and nobody said goodbye.
    Interrupted,
    /// Not to be remembered; only its id is known.
    Ignored,
}

impl SessionStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Ignored => "ignored",
        }
    }

    pub(super) fn from_column(text: &str) -> Self {
        match text {
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "interrupted" => Self::Interrupted,
            "ignored" => Self::Ignored,
            _ => Self::Active,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Session {
    pub id: SessionId,
    pub client: String,
    pub client_session: ClientSessionId,
    pub project: Option<ProjectId>,
    pub branch: Option<String>,
    pub transcript_path: Option<String>,
    /// The first prompt, as a name for the session.
    pub user_prompt: Option<String>,
    pub status: SessionStatus,
    pub prompt_counter: u32,
    pub created_at: Millis,
    pub last_activity: Millis,
    pub completed_at: Option<Millis>,
}

/// What is known when a session is first heard of.
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

const COLUMNS: &str = "SELECT id, client, content_session_id, project_id, branch, transcript_path, user_prompt,
    status, prompt_counter, created_at_epoch, last_activity_epoch, completed_at_epoch FROM sdk_sessions";

fn session(row: &Row<'_>) -> rusqlite::Result<Session> {
    Ok(Session {
        id: row.get(0)?,
        client: row.get(1)?,
        client_session: ClientSessionId(row.get(2)?),
        project: row.get(3)?,
        branch: row.get(4)?,
        transcript_path: row.get(5)?,
        user_prompt: row.get(6)?,
        status: SessionStatus::from_column(row.get_ref(7)?.as_str()?),
        prompt_counter: row.get(8)?,
        created_at: row.get(9)?,
        last_activity: row.get(10)?,
        completed_at: row.get(11)?,
    })
}

impl Reads<'_> {
    pub fn session(&self, id: SessionId) -> Result<Session, StoreError> {
        let found = self
            .0
            .prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?
            .query_row([id], session)
            .optional()?;
        found.ok_or(StoreError::NoSuchRow {
            what: "session",
            id: id.0,
        })
    }

    pub fn session_of_client(
        &self,
        client: &str,
        id: &ClientSessionId,
    ) -> Result<Option<Session>, StoreError> {
        Ok(self
            .0
            .prepare_cached(&format!(
                "{COLUMNS} WHERE client = ?1 AND content_session_id = ?2"
            ))?
            .query_row(params![client, id.0], session)
            .optional()?)
    }

    /// The newest session of this id, whichever client's it is.
    pub fn session_called(&self, id: &ClientSessionId) -> Result<Option<Session>, StoreError> {
        Ok(self
            .0
            .prepare_cached(&format!(
                "{COLUMNS} WHERE content_session_id = ?1 ORDER BY id DESC LIMIT 1"
            ))?
            .query_row([&id.0], session)
            .optional()?)
    }

    /// Newest first unless the filter says otherwise. Ignored sessions are not listed.
    pub fn sessions(&self, filter: &Filter, page: Page) -> Result<Paged<Session>, StoreError> {
        let mut clause = Filter {
            session: None,
            ..filter.clone()
        }
        .common();
        clause.and("status <> 'ignored'", []);
        if let Some(status) = filter.status {
            let status = rusqlite::types::Value::Text(status.as_str().to_owned());
            clause.and("status = ?", [status]);
        }
        let sql = filter.page(COLUMNS, "sdk_sessions", &mut clause, page);
        let mut rows = self.0.prepare_cached(&sql)?;
        let rows = rows.query_map(rusqlite::params_from_iter(clause.values()), session)?;
        Ok(Paged::cut(rows.collect::<Result<_, _>>()?, page))
    }

    /// Whether the session's transcript must not be read.
    pub fn is_transcript_closed(&self, id: SessionId) -> Result<bool, StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT transcript_closed <> 0 OR status = 'ignored' FROM sdk_sessions WHERE id = ?1",
            )?
            .query_row([id], |row| row.get(0))?)
    }

    /// Sessions that nobody has ended, of one project or of all, heard of before `before`.
    pub fn unended_sessions(
        &self,
        project: Option<ProjectId>,
        before: Millis,
    ) -> Result<Vec<Session>, StoreError> {
        let mut rows = self.0.prepare_cached(&format!(
            "{COLUMNS} WHERE status = 'active' AND (?1 IS NULL OR project_id = ?1) AND last_activity_epoch < ?2
             ORDER BY last_activity_epoch DESC LIMIT ?3"
        ))?;
        let rows = rows.query_map(
            params![project, before, crate::limits::PAGE_ROWS_MAX],
            session,
        )?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Sessions that nobody has ended and that were not heard of since `before`, the longest
    /// silent first, from behind the one that `after` names.
    pub fn silent_sessions(
        &self,
        before: Millis,
        after: Option<(Millis, SessionId)>,
    ) -> Result<Vec<Session>, StoreError> {
        let (at, id) = after.unwrap_or((Millis(i64::MIN), SessionId(i64::MIN)));
        let mut rows = self.0.prepare_cached(&format!(
            "{COLUMNS} WHERE status = 'active' AND last_activity_epoch < ?1
               AND (last_activity_epoch, id) > (?2, ?3)
             ORDER BY last_activity_epoch, id LIMIT ?4"
        ))?;
        let rows = rows.query_map(
            params![before, at, id, crate::limits::PAGE_ROWS_MAX],
            session,
        )?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// What the compressor carried out of the session's last episode.
    pub fn session_carry(&self, id: SessionId) -> Result<Option<String>, StoreError> {
        Ok(self.0.query_row(
            "SELECT carry FROM sdk_sessions WHERE id = ?1",
            [id],
            |row| row.get(0),
        )?)
    }

    pub fn session_rolling_summary(&self, id: SessionId) -> Result<Option<String>, StoreError> {
        Ok(self.0.query_row(
            "SELECT rolling_summary FROM sdk_sessions WHERE id = ?1",
            [id],
            |row| row.get(0),
        )?)
    }
}

impl Writes<'_> {
    /// Finds or makes the session. What was unknown before is filled in; an ignored session
    /// stays ignored.
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
                PublicId::new(),
                new.client,
                new.client_session.0,
                new.project,
                new.branch,
                new.transcript_path,
                new.origin.as_str(),
                new.import_run,
                new.at
            ])?;
        let mut id = self.tx.prepare_cached(
            "SELECT id FROM sdk_sessions WHERE client = ?1 AND content_session_id = ?2",
        )?;
        Ok(id.query_row(params![new.client, new.client_session.0], |row| row.get(0))?)
    }

    /// Activity after the end opens a session again: clients resume old ones.
    pub fn set_session_status(
        &self,
        id: SessionId,
        status: SessionStatus,
        at: Millis,
    ) -> Result<(), StoreError> {
        let completed = matches!(
            status,
            SessionStatus::Completed | SessionStatus::Failed | SessionStatus::Interrupted
        );
        self.tx
            .prepare_cached(
                "UPDATE sdk_sessions SET status = ?2, completed_at_epoch = CASE WHEN ?3 THEN ?4 END
                 WHERE id = ?1 AND status <> 'ignored'",
            )?
            .execute(params![id, status.as_str(), completed, at])?;
        Ok(())
    }

    pub fn set_session_carry(&self, id: SessionId, carry: &str) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("UPDATE sdk_sessions SET carry = ?2 WHERE id = ?1")?
            .execute(params![id, carry])?;
        Ok(())
    }

    pub fn set_session_rolling_summary(
        &self,
        id: SessionId,
        summary: &str,
    ) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("UPDATE sdk_sessions SET rolling_summary = ?2 WHERE id = ?1")?
            .execute(params![id, summary])?;
        Ok(())
    }

    /// The memory agent's own id for this conversation. It may change; nothing refers to it.
    pub fn set_memory_session(
        &self,
        id: SessionId,
        memory_session: &str,
    ) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("UPDATE sdk_sessions SET memory_session_id = ?2 WHERE id = ?1")?
            .execute(params![id, memory_session])?;
        Ok(())
    }

    /// The session is over, if nothing was heard of it since `before` and nothing of it is queued.
    pub fn interrupt_silent_session(
        &self,
        id: SessionId,
        before: Millis,
    ) -> Result<bool, StoreError> {
        let mut interrupt = self.tx.prepare_cached(
            "UPDATE sdk_sessions SET status = 'interrupted', completed_at_epoch = last_activity_epoch
             WHERE id = ?1 AND status = 'active' AND last_activity_epoch < ?2
               AND NOT EXISTS (SELECT 1 FROM pending_messages AS p
                 WHERE p.client = sdk_sessions.client AND p.session = sdk_sessions.content_session_id
                   AND p.state IN ('waiting', 'leased'))",
        )?;
        Ok(interrupt.execute(params![id, before])? == 1)
    }
}
