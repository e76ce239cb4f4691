//! The queue's rules of `queue::machine`, applied to rows.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{Accepted, Page, Paged, Reads, StoreError, Writes, inbox};
use crate::clock::{Micros, Millis};
use crate::hook::event::{Event, EventKey, ProjectHint};
use crate::ids::{ClientSessionId, PendingId};
use crate::queue::{self, Entry, LeaseId, State};

/// Events of one session that are ours to settle, in order.
#[derive(Clone, Debug)]
pub struct Lease {
    pub id: LeaseId,
    pub client: String,
    pub session: ClientSessionId,
    pub events: Vec<LeasedEvent>,
}

#[derive(Clone, Debug)]
pub struct LeasedEvent {
    pub id: PendingId,
    pub event: Event,
    /// Failures so far.
    pub attempts: u32,
    /// Workers that died while they held it.
    pub crashes: u32,
}

/// A session that has something to lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadySession {
    pub client: String,
    pub session: ClientSessionId,
    pub events: u64,
    pub oldest_at: Micros,
    pub newest_at: Micros,
}

/// What is known of an unsettled event before it is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub kind: String,
    pub at: Micros,
    pub bytes: u64,
    /// It cannot be taken before: it failed, or somebody works on it.
    pub not_before: Millis,
}

/// Where a session is, by what was queued of it last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueuedPlace {
    pub transcript_path: Option<String>,
    pub project: Option<ProjectHint>,
    pub oldest_at: Option<Millis>,
}

/// A row of the queue as `queue list` shows it: never its content.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pending {
    pub id: PendingId,
    pub client: String,
    pub session: ClientSessionId,
    pub kind: String,
    pub state: String,
    pub attempts: u32,
    pub error: Option<String>,
    pub accepted_at: Millis,
}

fn pending(row: &Row<'_>) -> rusqlite::Result<Pending> {
    Ok(Pending {
        id: row.get(0)?,
        client: row.get(1)?,
        session: ClientSessionId(row.get(2)?),
        kind: row.get(3)?,
        state: row.get(4)?,
        attempts: row.get(5)?,
        error: row.get(6)?,
        accepted_at: row.get(7)?,
    })
}

fn entry(
    state: &str,
    not_before: Millis,
    lease: i64,
    until: Millis,
    attempts: u32,
    crashes: u32,
) -> Entry {
    let state = match state {
        "waiting" => State::Waiting { not_before },
        "leased" => State::Leased {
            lease: LeaseId(lease),
            until,
        },
        "done" => State::Done,
        _ => State::Dead,
    };
    Entry {
        state,
        attempts,
        crashes,
    }
}

const ENTRY_COLUMNS: &str = "state, not_before_epoch, lease, lease_until_epoch, attempts, crashes";

fn entry_at(row: &Row<'_>, first: usize) -> rusqlite::Result<Entry> {
    Ok(entry(
        row.get_ref(first)?.as_str()?,
        row.get(first + 1)?,
        row.get(first + 2)?,
        row.get(first + 3)?,
        row.get(first + 4)?,
        row.get(first + 5)?,
    ))
}

impl Reads<'_> {
    /// Sessions that have unsettled events, the longest waiting first. Whether they may be
    /// leased now, [`Writes::lease_session`] decides.
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
                    oldest_at: row.get(3)?,
                    newest_at: row.get(4)?,
                })
            })?
            .collect::<Result<_, _>>()?)
    }

    /// The front of a session's queue, in order.
    pub fn heads(
        &self,
        client: &str,
        session: &ClientSessionId,
        max: usize,
    ) -> Result<Vec<Head>, StoreError> {
        // `octet_length` reads a long body's size, not the body.
        let mut rows = self.0.prepare_cached(
            "SELECT kind, at, octet_length(body), max(not_before_epoch, lease_until_epoch) FROM pending_messages
             WHERE client = ?1 AND session = ?2 AND state IN ('waiting', 'leased') ORDER BY at, id LIMIT ?3",
        )?;
        Ok(rows
            .query_map(params![client, session.0, max], |row| {
                Ok(Head {
                    kind: row.get(0)?,
                    at: row.get(1)?,
                    bytes: row.get(2)?,
                    not_before: row.get(3)?,
                })
            })?
            .collect::<Result<_, _>>()?)
    }

    /// Whether an event of this key was ever accepted.
    pub fn has_seen(&self, key: EventKey) -> Result<bool, StoreError> {
        Ok(self
            .0
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM events_seen WHERE key = ?1)")?
            .query_row([key.0], |row| row.get(0))?)
    }

    /// The event that was accepted last, settled or not.
    pub fn newest_pending(&self) -> Result<Option<PendingId>, StoreError> {
        Ok(self
            .0
            .prepare_cached("SELECT max(id) FROM pending_messages")?
            .query_row([], |row| row.get(0))?)
    }

    /// Whether any event up to this one is still to be settled.
    pub fn is_unsettled_up_to(&self, newest: PendingId) -> Result<bool, StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM pending_messages INDEXED BY pending_messages_in_order
                 WHERE state IN ('waiting', 'leased') AND id <= ?1)",
            )?
            .query_row([newest], |row| row.get(0))?)
    }

    /// What the unsettled events of a session say of where it is.
    pub fn queued_place(
        &self,
        client: &str,
        session: &ClientSessionId,
    ) -> Result<QueuedPlace, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT json_extract(body, '$.transcript_path'), json_extract(body, '$.project'), at FROM pending_messages
             WHERE client = ?1 AND session = ?2 AND state IN ('waiting', 'leased') ORDER BY at DESC, id DESC",
        )?;
        let mut rows = rows.query(params![client, session.0])?;
        let mut place = QueuedPlace::default();
        while let Some(row) = rows.next()? {
            if place.transcript_path.is_none() {
                place.transcript_path = row.get(0)?;
            }
            if place.project.is_none() {
                let project: Option<String> = row.get(1)?;
                // Without it nobody could tell whether the project is ignored.
                place.project = project
                    .map(|json| serde_json::from_str(&json))
                    .transpose()?;
            }
            place.oldest_at = Some(row.get::<_, Micros>(2)?.millis());
        }
        Ok(place)
    }

    /// The queue, or one state of it, newest first.
    pub fn pending(&self, state: Option<&str>, page: Page) -> Result<Paged<Pending>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT id, client, session, kind, state, attempts, error, accepted_at_epoch FROM pending_messages
             WHERE ?1 IS NULL OR state = ?1 ORDER BY id DESC LIMIT ?2 OFFSET ?3",
        )?;
        let rows = rows.query_map(params![state, page.rows() + 1, page.offset], pending)?;
        Ok(Paged::cut(rows.collect::<Result<_, _>>()?, page))
    }

    fn entry_of(&self, id: PendingId) -> Result<Entry, StoreError> {
        let found = self
            .0
            .prepare_cached(&format!(
                "SELECT {ENTRY_COLUMNS} FROM pending_messages WHERE id = ?1"
            ))?
            .query_row([id], |row| entry_at(row, 0))
            .optional()?;
        found.ok_or(StoreError::NoSuchRow {
            what: "queued event",
            id: id.0,
        })
    }
}

impl Writes<'_> {
    /// What a hook does, for the processes that have a store open: spooled events and those
    /// that the transcript reader found.
    pub fn accept(
        &self,
        key: EventKey,
        event: &Event,
        now: Millis,
    ) -> Result<Accepted, StoreError> {
        inbox::insert(self.tx, key, event, &serde_json::to_string(event)?, now)
    }

    /// Takes up to `max` events from the front of a session. `None`: nothing to take now.
    pub fn lease_session(
        &self,
        client: &str,
        session: &ClientSessionId,
        max: usize,
        lease: LeaseId,
        now: Millis,
    ) -> Result<Option<Lease>, StoreError> {
        let sql = format!(
            "SELECT id, body, {ENTRY_COLUMNS} FROM pending_messages
             WHERE client = ?1 AND session = ?2 AND state IN ('waiting', 'leased') ORDER BY at, id LIMIT ?3"
        );
        let mut rows = self.tx.prepare_cached(&sql)?;
        let rows = rows
            .query_map(params![client, session.0, max], |row| {
                Ok((
                    row.get::<_, PendingId>(0)?,
                    row.get::<_, String>(1)?,
                    entry_at(row, 2)?,
                ))
            })?
            .collect::<Result<Vec<_>, _>>()?;
        let entries: Vec<Entry> = rows.iter().map(|(_, _, entry)| *entry).collect();
        let mut events = Vec::new();
        for (id, body, entry) in rows.into_iter().take(queue::leasable(&entries, now)) {
            let Some(after) = queue::lease(entry, lease, now) else {
                continue;
            };
            match serde_json::from_str(&body) {
                Ok(event) if matches!(after.state, State::Leased { .. }) => {
                    self.save_entry(id, after, None)?;
                    events.push(LeasedEvent {
                        id,
                        event,
                        attempts: after.attempts,
                        crashes: after.crashes,
                    });
                }
                Ok(_) => self.save_entry(id, after, Some("workers kept dying over it"))?,
                // It cannot be read now and never will be: kept for inspection, out of the way.
                Err(error) => {
                    let dead = Entry {
                        state: State::Dead,
                        ..after
                    };
                    self.save_entry(id, dead, Some(&format!("its body does not read: {error}")))?;
                }
            }
        }
        let found = !events.is_empty();
        Ok(found.then(|| Lease {
            id: lease,
            client: client.to_owned(),
            session: session.clone(),
            events,
        }))
    }

    /// These events are done. In the same transaction as what was made of them: otherwise a
    /// crash in between would lose it or store it twice.
    pub fn settle(&self, lease: LeaseId, ids: &[PendingId]) -> Result<(), StoreError> {
        for &id in ids {
            let after = queue::settle(self.entry_of(id)?, lease).ok_or(StoreError::LeaseLost)?;
            self.save_entry(id, after, None)?;
        }
        Ok(())
    }

    /// These events failed: they wait, or die.
    pub fn fail(
        &self,
        lease: LeaseId,
        ids: &[PendingId],
        why: &str,
        now: Millis,
    ) -> Result<(), StoreError> {
        for &id in ids {
            let after = queue::fail(self.entry_of(id)?, lease, now).ok_or(StoreError::LeaseLost)?;
            self.save_entry(id, after, Some(why))?;
        }
        Ok(())
    }

    /// Holds on to a lease for another term. The number of events still held.
    pub fn renew(&self, lease: LeaseId, now: Millis) -> Result<usize, StoreError> {
        let until = now.plus_seconds(crate::limits::LEASE_SECONDS);
        Ok(self.tx.execute(
            "UPDATE pending_messages SET lease_until_epoch = ?2 WHERE state = 'leased' AND lease = ?1",
            params![lease.0, until],
        )?)
    }

    /// Gives a lease back untouched: the events may be taken again at once.
    pub fn release(&self, lease: LeaseId) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "UPDATE pending_messages SET state = 'waiting', not_before_epoch = 0, lease_until_epoch = 0 WHERE state = 'leased' AND lease = ?1",
            [lease.0],
        )?)
    }

    /// Every lease is given back untouched: this worker ends, and it is the only one.
    pub fn release_all(&self) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "UPDATE pending_messages SET state = 'waiting', not_before_epoch = 0, lease_until_epoch = 0 WHERE state = 'leased'",
            [],
        )?)
    }

    /// Leases of a worker that is known to be dead, because its file lock is ours now.
    pub fn reclaim_leases(&self) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "UPDATE pending_messages SET crashes = crashes + 1, not_before_epoch = 0, lease_until_epoch = 0,
               state = CASE WHEN crashes + 1 >= ?1 THEN 'dead' ELSE 'waiting' END,
               error = CASE WHEN crashes + 1 >= ?1 THEN 'workers kept dying over it' ELSE error END
             WHERE state = 'leased'",
            [crate::limits::CRASHES_MAX],
        )?)
    }

    /// A dead event waits again. True if it was dead.
    pub fn retry_pending(&self, id: PendingId) -> Result<bool, StoreError> {
        let Some(after) = queue::retry(self.entry_of(id)?) else {
            return Ok(false);
        };
        self.save_entry(id, after, None)?;
        Ok(true)
    }

    /// Removes a dead event for good. True if it was dead.
    pub fn drop_pending(&self, id: PendingId) -> Result<bool, StoreError> {
        self.entry_of(id)?;
        Ok(self.tx.execute(
            "DELETE FROM pending_messages WHERE id = ?1 AND state = 'dead'",
            [id],
        )? == 1)
    }

    /// Settled rows have no use beyond `status`; their keys stay in `events_seen`. To be called
    /// until fewer go than it may.
    pub fn sweep_done(&self, accepted_before: Millis, rows_max: u32) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "DELETE FROM pending_messages WHERE id IN (SELECT id FROM pending_messages
             WHERE state = 'done' AND accepted_at_epoch < ?1 LIMIT ?2)",
            params![accepted_before, rows_max],
        )?)
    }

    fn save_entry(
        &self,
        id: PendingId,
        entry: Entry,
        error: Option<&str>,
    ) -> Result<(), StoreError> {
        let (state, not_before, lease, until) = match entry.state {
            State::Waiting { not_before } => ("waiting", not_before, 0, Millis(0)),
            State::Leased { lease, until } => ("leased", Millis(0), lease.0, until),
            State::Done => ("done", Millis(0), 0, Millis(0)),
            State::Dead => ("dead", Millis(0), 0, Millis(0)),
        };
        // What is done needs its body no more.
        self.tx
            .prepare_cached(
                "UPDATE pending_messages SET state = ?2, not_before_epoch = ?3, lease = ?4, lease_until_epoch = ?5,
                   attempts = ?6, crashes = ?7, error = coalesce(?8, error),
                   body = CASE WHEN ?2 = 'done' THEN '' ELSE body END WHERE id = ?1",
            )?
            .execute(params![id, state, not_before, lease, until, entry.attempts, entry.crashes, error])?;
        Ok(())
    }
}
