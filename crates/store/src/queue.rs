//! The event queue: its rows, and who waits for what.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{PageRequest, RowPage, StoreError, StoreReader};
use crate::columns::{ReadColumn, SqlColumn};
use claude_mem_core::clock::{Micros, Millis};
use claude_mem_core::event::{Event, EventKind, ProjectHint};
use claude_mem_core::ids::{ClientSessionId, PendingId};
use claude_mem_core::queue::{LeaseId, QueueEntry, QueueState};

/// Leased events of one session, in order.
#[derive(Clone, Debug)]
pub struct EventLease {
    pub id: LeaseId,
    pub client: String,
    pub session: ClientSessionId,
    pub events: Vec<LeasedEvent>,
}

/// One event of a lease.
#[derive(Clone, Debug)]
pub struct LeasedEvent {
    pub id: PendingId,
    pub event: Event,
    /// Failures so far.
    pub attempts: u32,
    /// Workers that died while they held the event.
    pub crashes: u32,
}

/// A session with unsettled events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadySession {
    pub client: String,
    pub session: ClientSessionId,
    pub events: u64,
    pub oldest_at: Micros,
    pub newest_at: Micros,
}

/// An unsettled event without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedEventHead {
    pub kind: EventKind,
    pub at: Micros,
    pub bytes: u64,
    /// Earliest time to lease it: it failed, or it is leased.
    pub not_before: Millis,
}

/// Transcript and project of a session, from its queued events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueuedSessionInfo {
    pub transcript_path: Option<String>,
    pub project: Option<ProjectHint>,
    pub oldest_at: Option<Millis>,
}

/// A queue row as `queue list` shows it, without the event's content.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueRow {
    pub id: PendingId,
    pub client: String,
    pub session: ClientSessionId,
    pub kind: String,
    pub state: String,
    pub attempts: u32,
    pub error: Option<String>,
    pub accepted_at: Millis,
}

fn pending(row: &Row<'_>) -> rusqlite::Result<QueueRow> {
    Ok(QueueRow {
        id: row.column(0)?,
        client: row.get(1)?,
        session: ClientSessionId(row.get(2)?),
        kind: row.get(3)?,
        state: row.get(4)?,
        attempts: row.get(5)?,
        error: row.get(6)?,
        accepted_at: row.column(7)?,
    })
}

fn to_queue_entry(
    state: &str,
    not_before: Millis,
    lease: i64,
    until: Millis,
    attempts: u32,
    crashes: u32,
) -> QueueEntry {
    let state = match state {
        "waiting" => QueueState::Waiting { not_before },
        "leased" => QueueState::Leased { lease: LeaseId(lease), until },
        "done" => QueueState::Done,
        _ => QueueState::Dead,
    };
    QueueEntry { state, attempts, crashes }
}

pub(super) const ENTRY_COLUMNS: &str = "state, not_before_epoch, lease, lease_until_epoch, attempts, crashes";

pub(super) fn queue_entry_at(row: &Row<'_>, first: usize) -> rusqlite::Result<QueueEntry> {
    Ok(to_queue_entry(
        row.get_ref(first)?.as_str()?,
        row.column(first + 1)?,
        row.get(first + 2)?,
        row.column(first + 3)?,
        row.get(first + 4)?,
        row.get(first + 5)?,
    ))
}

impl StoreReader<'_> {
    /// Sessions with unsettled events, the longest waiting first. `StoreWriter::lease_session`
    /// decides whether they can be leased now.
    pub fn sessions_with_work(&self) -> Result<Vec<ReadySession>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT client, session, count(*), min(at), max(at) FROM pending_messages
             WHERE state IN ('waiting', 'leased') GROUP BY client, session ORDER BY min(at)",
        )?;
        Ok(rows
            .query_map([], |row| {
                Ok(ReadySession {
                    client: row.get(0)?,
                    session: ClientSessionId(row.get(1)?),
                    events: row.get(2)?,
                    oldest_at: row.column(3)?,
                    newest_at: row.column(4)?,
                })
            })?
            .collect::<Result<_, _>>()?)
    }

    /// The first events of a session's queue, in order.
    pub fn queued_heads(
        &self,
        client: &str,
        session: &ClientSessionId,
        max: usize,
    ) -> Result<Vec<QueuedEventHead>, StoreError> {
        // `octet_length` reads the size of a long body without the body.
        let mut rows = self.0.prepare_cached(
            "SELECT kind, at, octet_length(body), max(not_before_epoch, lease_until_epoch) FROM pending_messages
             WHERE client = ?1 AND session = ?2 AND state IN ('waiting', 'leased') ORDER BY at, id LIMIT ?3",
        )?;
        Ok(rows
            .query_map(params![client, session.0, max], |row| {
                Ok(QueuedEventHead {
                    kind: EventKind::from_name(row.get_ref(0)?.as_str()?),
                    at: row.column(1)?,
                    bytes: row.get(2)?,
                    not_before: row.column(3)?,
                })
            })?
            .collect::<Result<_, _>>()?)
    }

    /// The last accepted event, settled or not.
    pub fn newest_pending(&self) -> Result<Option<PendingId>, StoreError> {
        Ok(self
            .0
            .prepare_cached("SELECT max(id) FROM pending_messages")?
            .query_row([], |row| row.column(0))?)
    }

    /// Whether any event up to this one is unsettled.
    pub fn is_unsettled_up_to(&self, newest: PendingId) -> Result<bool, StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM pending_messages INDEXED BY pending_messages_in_order
                 WHERE state IN ('waiting', 'leased') AND id <= ?1)",
            )?
            .query_row([newest.sql()], |row| row.get(0))?)
    }

    /// Transcript and project as the session's unsettled events report them, the newest first.
    pub fn queued_session_info(
        &self,
        client: &str,
        session: &ClientSessionId,
    ) -> Result<QueuedSessionInfo, StoreError> {
        let mut statement = self.0.prepare_cached(
            "SELECT json_extract(body, '$.transcript_path'), json_extract(body, '$.project'), at FROM pending_messages
             WHERE client = ?1 AND session = ?2 AND state IN ('waiting', 'leased') ORDER BY at DESC, id DESC",
        )?;
        let mut rows = statement.query(params![client, session.0])?;
        let mut place = QueuedSessionInfo::default();
        while let Some(row) = rows.next()? {
            if place.transcript_path.is_none() {
                place.transcript_path = row.get(0)?;
            }
            if place.project.is_none() {
                let project: Option<String> = row.get(1)?;
                // An unreadable hint is an error: otherwise nobody could tell whether the project
                // is ignored.
                place.project = project.map(|json| serde_json::from_str(&json)).transpose()?;
            }
            place.oldest_at = Some(row.column::<Micros>(2)?.millis());
        }
        Ok(place)
    }

    /// The queue, or its events in one state, newest first.
    pub fn pending(&self, state: Option<&str>, page: PageRequest) -> Result<RowPage<QueueRow>, StoreError> {
        let mut statement = self.0.prepare_cached(
            "SELECT id, client, session, kind, state, attempts, error, accepted_at_epoch FROM pending_messages
             WHERE ?1 IS NULL OR state = ?1 ORDER BY id DESC LIMIT ?2 OFFSET ?3",
        )?;
        let rows = statement.query_map(params![state, page.row_limit() + 1, page.offset], pending)?;
        Ok(RowPage::from_overfetch(rows.collect::<Result<_, _>>()?, page))
    }

    pub(super) fn queue_entry(&self, id: PendingId) -> Result<QueueEntry, StoreError> {
        let found = self
            .0
            .prepare_cached(&format!("SELECT {ENTRY_COLUMNS} FROM pending_messages WHERE id = ?1"))?
            .query_row([id.sql()], |row| queue_entry_at(row, 0))
            .optional()?;
        found.ok_or(StoreError::NoSuchRow { what: "queued event", id: id.0 })
    }
}
