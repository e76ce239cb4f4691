//! The hook's door: opens fast, one transaction, out again.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior, params};

use super::{StoreError, Writes, gate, migrate, open, swap};
use crate::clock::Millis;
use crate::hook::event::{Body, Event, EventKey};
use crate::hook::key as keys;
use crate::ids::{ClientSessionId, ProjectId, PublicId, SessionId};
use crate::limits::{HOOK_BUSY_MS, HOOK_NOTE_BUSY_MS, WAL_LEFT_BYTES_MAX};

/// What a hook needs of the store, and nothing else.
#[derive(Debug)]
pub struct Inbox {
    conn: Connection,
    path: PathBuf,
    /// Given back after the connection is closed.
    pass: gate::Pass,
}

/// Both are success: a hook that was killed after its commit may be run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    New,
    Known,
}

impl Inbox {
    /// Creates a missing database. Never migrates: an old one is an error, and the hook spools.
    pub fn open(database: &Path) -> Result<Self, StoreError> {
        Self::open_within(database, HOOK_BUSY_MS)
    }

    /// The same for what can also be done later: another writer is not waited for long.
    pub fn open_to_note(database: &Path) -> Result<Self, StoreError> {
        Self::open_within(database, HOOK_NOTE_BUSY_MS)
    }

    fn open_within(database: &Path, busy_ms: u64) -> Result<Self, StoreError> {
        let pass = gate::Pass::enter(database)?;
        if swap::is_under_way(database) {
            return Err(StoreError::Busy);
        }
        let conn = open::hook(database, busy_ms)?;
        migrate::check(&conn)?;
        Ok(Self {
            conn,
            path: database.to_owned(),
            pass,
        })
    }

    /// Accepts one event, once.
    pub fn accept(
        &mut self,
        key: EventKey,
        event: &Event,
        now: Millis,
    ) -> Result<Accepted, StoreError> {
        let body = serde_json::to_string(event)?;
        self.accept_body(key, event, &body, now)
    }

    /// The same with the body already written out, as the spool has it.
    pub fn accept_body(
        &mut self,
        key: EventKey,
        event: &Event,
        body: &str,
        now: Millis,
    ) -> Result<Accepted, StoreError> {
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let accepted = insert(&tx, key, event, body, now)?;
        tx.commit()?;
        Ok(accepted)
    }

    /// Notes that this session is not to be remembered, so that no later reader of its
    /// transcript takes it for an unseen one. Its id is all that is kept. What is known of it
    /// from before stays, but its transcript is not read any more.
    pub fn ignore_session(
        &mut self,
        client: &str,
        session: &ClientSessionId,
        now: Millis,
    ) -> Result<(), StoreError> {
        ignore_session(&self.conn, client, session, now)
    }

    /// Notes what an agent was shown.
    pub fn record_feedback(&mut self, entries: &[super::Feedback<'_>]) -> Result<(), StoreError> {
        self.write(|w| {
            entries
                .iter()
                .try_for_each(|entry| w.record_feedback(entry))
        })
    }

    /// Notes that an agent's context was compacted: what it was shown before, it has forgotten.
    pub fn note_compaction(
        &mut self,
        client: &str,
        session: &str,
        now: Millis,
    ) -> Result<(), StoreError> {
        self.write(|w| w.set_meta(&compaction_key(client, session), &now.0.to_string()))
    }

    /// The session that was cleared last in a project, if memory knows the project.
    pub fn note_cleared(
        &mut self,
        project: &[String],
        client: &str,
        session: &str,
    ) -> Result<(), StoreError> {
        self.write(|w| match w.project_by_keys(project)? {
            Some(project) => w.set_meta(&cleared_key(project), &format!("{client} {session}")),
            None => Ok(()),
        })
    }

    /// Runs `change` as one transaction: all of it happens, or nothing.
    pub fn write<T>(
        &mut self,
        change: impl FnOnce(&Writes<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        super::write(&mut self.conn, change)
    }

    /// The same connection for the questions that recall asks.
    pub fn read(&self) -> super::Reads<'_> {
        super::Reads(&self.conn)
    }

    /// Closes. The write-ahead log is left for the worker while it is small, because emptying
    /// it costs more than the whole hook; beyond that somebody has to.
    pub fn close(self) -> Result<(), StoreError> {
        let mut log = self.path.into_os_string();
        log.push("-wal");
        let small = std::fs::metadata(log).map_or(true, |meta| meta.len() < WAL_LEFT_BYTES_MAX);
        self.conn
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, small)?;
        let closed = self.conn.close().map_err(|(_, e)| e.into());
        drop(self.pass);
        closed
    }
}

fn cleared_key(project: ProjectId) -> String {
    format!("cleared:{}", project.0)
}

fn compaction_key(client: &str, session: &str) -> String {
    format!("compacted:{client}:{session}")
}

impl super::Reads<'_> {
    /// The session that was cleared last in a project, if the client said so.
    pub fn last_cleared(&self, project: ProjectId) -> Result<Option<SessionId>, StoreError> {
        let noted = self.meta(&cleared_key(project))?;
        let Some((client, session)) = noted.as_deref().and_then(|noted| noted.split_once(' '))
        else {
            return Ok(None);
        };
        let session = self.session_of_client(client, &ClientSessionId(session.to_owned()))?;
        Ok(session.map(|session| session.id))
    }

    /// When the session's context was last compacted; the beginning of time if never.
    pub fn last_compaction(&self, client: &str, session: &str) -> Result<Millis, StoreError> {
        let noted = self.meta(&compaction_key(client, session))?;
        Ok(Millis(
            noted.and_then(|text| text.parse().ok()).unwrap_or(0),
        ))
    }
}

/// One event into the queue, unless its key has been seen.
pub(super) fn insert(
    conn: &Connection,
    key: EventKey,
    event: &Event,
    body: &str,
    now: Millis,
) -> Result<Accepted, StoreError> {
    let seen = conn
        .prepare_cached("INSERT INTO events_seen (key) VALUES (?1) ON CONFLICT DO NOTHING")?
        .execute([key.0])?;
    if seen == 0 {
        return Ok(Accepted::Known);
    }
    // Of the others the event itself tells it.
    let noted = matches!(event.body, Body::Stop { .. }) && key != keys::of(event, None);
    let body = if noted {
        Cow::Owned(with_key(body, key))
    } else {
        Cow::Borrowed(body)
    };
    conn.prepare_cached(
        "INSERT INTO pending_messages (client, session, at, kind, body, accepted_at_epoch)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        event.client,
        event.session.0,
        event.at,
        event.body.name(),
        body,
        now
    ])?;
    Ok(Accepted::New)
}

/// Notes in a body which key it was accepted under, for whoever has to queue it again.
fn with_key(body: &str, key: EventKey) -> String {
    let open = body.trim_end().strip_suffix('}').unwrap_or(body);
    format!("{open},\"key\":\"{}\"}}", keys::hex(&key.0))
}

/// The key that was noted in a body, if one was.
pub(super) fn noted_key(body: &str) -> Option<EventKey> {
    #[derive(serde::Deserialize)]
    struct Noted {
        key: String,
    }
    let noted: Noted = serde_json::from_str(body).ok()?;
    keys::from_hex(&noted.key).map(EventKey)
}

impl Writes<'_> {
    /// Whoever reports this event from now on is told that it is known.
    pub fn mark_seen(&self, key: EventKey) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("INSERT INTO events_seen (key) VALUES (?1) ON CONFLICT DO NOTHING")?
            .execute([key.0])?;
        Ok(())
    }

    /// See [`Inbox::ignore_session`].
    pub fn ignore_session(
        &self,
        client: &str,
        session: &ClientSessionId,
        now: Millis,
    ) -> Result<(), StoreError> {
        ignore_session(self.tx, client, session, now)
    }
}

fn ignore_session(
    conn: &Connection,
    client: &str,
    session: &ClientSessionId,
    now: Millis,
) -> Result<(), StoreError> {
    conn.execute(
        "INSERT INTO sdk_sessions (uid, client, content_session_id, status, transcript_closed,
           created_at_epoch, last_activity_epoch)
         VALUES (?1, ?2, ?3, 'ignored', 1, ?4, ?4)
         ON CONFLICT (client, content_session_id) DO UPDATE SET transcript_closed = 1
         WHERE transcript_closed = 0",
        params![PublicId::new(), client, session.0, now],
    )?;
    Ok(())
}
