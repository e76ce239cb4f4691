//! Turns: a prompt with the rows that were made from it.

use rusqlite::{OptionalExtension, params};

use super::{FeedCursor, RowId, RowKind, StoreError, StoreReader};
use crate::columns::{ReadColumn, SqlColumn};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::SessionId;

/// A turn whose events wait in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningTurn {
    /// The client's session id.
    pub session: String,
    pub started_at: Millis,
    /// The name of the project's directory.
    pub project: Option<String>,
    /// Empty if the prompt is private.
    pub prompt: String,
    pub tool_calls: u64,
}

/// Kinds of rows that belong to a turn.
const TURN_KINDS: [RowKind; 4] = [RowKind::Prompt, RowKind::Observation, RowKind::Summary, RowKind::Message];

impl StoreReader<'_> {
    /// The session and the number of the turn that a row belongs to; `None` for a row without a turn.
    pub fn turn_of(&self, RowId { kind, row_id }: RowId) -> Result<Option<(SessionId, u32)>, StoreError> {
        if kind == RowKind::Account {
            return Ok(None);
        }
        let sql = format!("SELECT session_id, prompt_number FROM {} WHERE id = ?1", kind.table());
        let found = self.0.prepare_cached(&sql)?.query_row([row_id], |row| {
            let session: Option<SessionId> = row.column(0)?;
            Ok((session, row.get::<_, u32>(1)?))
        });
        let found = found.optional()?;
        Ok(found.and_then(|(session, number)| Some((session?, number))).filter(|(_, number)| *number > 0))
    }

    /// The rows of a turn, at most `limit` of each kind, newest first.
    pub fn turn_rows(
        &self,
        session: SessionId,
        number: u32,
        limit: u32,
    ) -> Result<Vec<FeedCursor>, StoreError> {
        let mut found = Vec::new();
        for kind in TURN_KINDS {
            let sql = format!(
                "SELECT created_at_epoch, id FROM {} WHERE session_id = ?1 AND prompt_number = ?2
                 ORDER BY created_at_epoch DESC, id DESC LIMIT ?3",
                kind.table()
            );
            let mut statement = self.0.prepare_cached(&sql)?;
            let mut rows = statement.query(params![session.sql(), number, limit])?;
            while let Some(row) = rows.next()? {
                found.push(FeedCursor { at: row.column(0)?, kind, row_id: row.get(1)? });
            }
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        Ok(found)
    }

    /// The turns that agents are at work on: the last queued prompt of each session, unless its end is queued
    /// too. The newest is first.
    pub fn running_turns(&self) -> Result<Vec<RunningTurn>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT p.session, p.at / 1000, json_extract(p.body, '$.project.name'),
               CASE WHEN json_extract(p.body, '$.body.private') THEN '' ELSE json_extract(p.body, '$.body.text') END,
               (SELECT count(*) FROM pending_messages AS t WHERE t.client = p.client AND t.session = p.session
                  AND t.kind = 'tool_use' AND t.state IN ('waiting', 'leased') AND t.id > p.id)
             FROM pending_messages AS p
             WHERE p.kind = 'prompt' AND p.state IN ('waiting', 'leased')
               AND NOT EXISTS (SELECT 1 FROM pending_messages AS later WHERE later.client = p.client
                 AND later.session = p.session AND later.id > p.id AND later.state IN ('waiting', 'leased')
                 AND later.kind IN ('prompt', 'stop', 'session_end'))
             ORDER BY p.at DESC",
        )?;
        let rows = rows.query_map([], |row| {
            Ok(RunningTurn {
                session: row.get(0)?,
                started_at: row.column(1)?,
                project: row.get(2)?,
                prompt: row.get::<_, Option<String>>(3)?.unwrap_or_default(),
                tool_calls: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
