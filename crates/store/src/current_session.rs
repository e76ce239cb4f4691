//! Finds the session in which a client works right now, for a caller that cannot tell its session.

use rusqlite::{OptionalExtension, params};

use super::{StoreError, StoreReader};
use crate::columns::SqlColumn;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::{ClientSessionId, ProjectId};

impl StoreReader<'_> {
    /// The session of a client with the newest event in a project since `since`. Queued events count: most of
    /// them belong to a session that has no row yet.
    pub fn current_session_of_client(
        &self,
        client: &str,
        hint: &ProjectHint,
        project: Option<ProjectId>,
        since: Millis,
    ) -> Result<Option<ClientSessionId>, StoreError> {
        let found = self
            .0
            .prepare_cached(
                "SELECT session FROM (
                   SELECT session, at / 1000 AS at FROM pending_messages
                   WHERE client = ?1 AND state IN ('waiting', 'leased') AND at / 1000 >= ?4
                     AND json_extract(body, '$.project.root') = ?2
                   UNION ALL
                   SELECT content_session_id, last_activity_epoch FROM sdk_sessions
                   WHERE client = ?1 AND project_id = ?3 AND status = 'active' AND last_activity_epoch >= ?4)
                 ORDER BY at DESC LIMIT 1",
            )?
            .query_row(params![client, hint.root, project.map(|id| id.sql()), since.sql()], |row| row.get(0))
            .optional()?;
        Ok(found.map(ClientSessionId))
    }
}
