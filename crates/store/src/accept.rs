//! Accepts events into the queue, each at most once.
//!
//! Invariant: the key of every accepted event stays in `events_seen`, so that a second report of the
//! same event is recognised whichever way it arrives.

use rusqlite::params;

use super::{StoreError, StoreReader, StoreWriter};
use crate::columns::{SqlColumn, id_column, name_column};
use claude_mem_core::clock::Millis;
use claude_mem_core::event::{Event, EventBody, EventKey};
use claude_mem_core::event_key as keys;
use claude_mem_core::ids::{ClientSessionId, PublicId};

/// Whether an event was new. Both are success: a hook that was killed after its commit may run
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptOutcome {
    New,
    Duplicate,
}

impl StoreReader<'_> {
    /// Whether an event with this key was ever accepted.
    pub fn has_seen(&self, key: EventKey) -> Result<bool, StoreError> {
        Ok(self
            .0
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM events_seen WHERE key = ?1)")?
            .query_row([key.0], |row| row.get(0))?)
    }
}

impl StoreWriter<'_> {
    /// Queues an event, unless its key is known.
    pub fn accept(&self, key: EventKey, event: &Event, now: Millis) -> Result<AcceptOutcome, StoreError> {
        let seen = self
            .tx
            .prepare_cached("INSERT INTO events_seen (key) VALUES (?1) ON CONFLICT DO NOTHING")?
            .execute([key.0])?;
        if seen == 0 {
            return Ok(AcceptOutcome::Duplicate);
        }
        let event = &*claude_mem_redact::event_fields(event);
        let mut body = serde_json::to_string(event)?;
        // The keys of all other events can be computed from the event.
        if matches!(event.body, EventBody::Stop { .. }) && key != keys::event_key(event, None) {
            body = body_with_key(&body, key);
        }
        self.tx
            .prepare_cached(
                "INSERT INTO pending_messages (client, session, at, kind, body, accepted_at_epoch)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                name_column(&event.client),
                id_column(&event.session.0),
                event.at.sql(),
                event.body.kind_name(),
                body,
                now.sql()
            ])?;
        Ok(AcceptOutcome::New)
    }

    /// Treats this event as accepted, so that later reports of it are duplicates.
    pub fn mark_seen(&self, key: EventKey) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("INSERT INTO events_seen (key) VALUES (?1) ON CONFLICT DO NOTHING")?
            .execute([key.0])?;
        Ok(())
    }

    /// Records that this session must not be remembered, so that a later reader of its transcript
    /// does not treat it as new. Only its id is stored. Existing rows of the session stay, but its
    /// transcript is not read any more.
    pub fn ignore_session(
        &self,
        client: &str,
        session: &ClientSessionId,
        now: Millis,
    ) -> Result<(), StoreError> {
        self.tx.execute(
            "INSERT INTO sdk_sessions (uid, client, content_session_id, status, transcript_closed,
               created_at_epoch, last_activity_epoch)
             VALUES (?1, ?2, ?3, 'ignored', 1, ?4, ?4)
             ON CONFLICT (client, content_session_id) DO UPDATE SET transcript_closed = 1
             WHERE transcript_closed = 0",
            params![PublicId::new().sql(), name_column(client), id_column(&session.0), now.sql()],
        )?;
        Ok(())
    }
}

/// Adds to a body the key it was accepted under, in case it must be queued again.
fn body_with_key(body: &str, key: EventKey) -> String {
    let open = body.trim_end().strip_suffix('}').unwrap_or(body);
    format!("{open},\"key\":\"{}\"}}", keys::hex(&key.0))
}

/// The key stored in a body, if there is one.
pub(super) fn key_in_body(body: &str) -> Option<EventKey> {
    #[derive(serde::Deserialize)]
    struct KeyedBody {
        key: String,
    }
    let noted: KeyedBody = serde_json::from_str(body).ok()?;
    keys::from_hex(&noted.key).map(EventKey)
}
