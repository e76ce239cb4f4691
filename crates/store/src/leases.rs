//! Leases of queued events: applies the state machine of [`claude_mem_core::queue`] to rows.

use rusqlite::params;

use super::{EventLease, LeasedEvent, StoreError, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn, text_column};
use crate::queue::{ENTRY_COLUMNS, queue_entry_at};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ClientSessionId, PendingId};
use claude_mem_core::queue::{self, LeaseId, QueueEntry, QueueState};

impl StoreWriter<'_> {
    /// Leases up to `max` events from the front of a session. `None`: nothing can be leased now.
    pub fn lease_session(
        &self,
        client: &str,
        session: &ClientSessionId,
        max: usize,
        lease: LeaseId,
        now: Millis,
    ) -> Result<Option<EventLease>, StoreError> {
        let sql = format!(
            "SELECT id, body, {ENTRY_COLUMNS} FROM pending_messages
             WHERE client = ?1 AND session = ?2 AND state IN ('waiting', 'leased') ORDER BY at, id LIMIT ?3"
        );
        let mut statement = self.tx.prepare_cached(&sql)?;
        let rows = statement
            .query_map(params![client, session.0, max], |row| {
                Ok((row.column::<PendingId>(0)?, row.get::<_, String>(1)?, queue_entry_at(row, 2)?))
            })?
            .collect::<Result<Vec<_>, _>>()?;
        let entries: Vec<QueueEntry> = rows.iter().map(|(_, _, entry)| *entry).collect();
        let mut events = Vec::new();
        for (id, body, entry) in rows.into_iter().take(queue::leasable_count(&entries, now)) {
            let Some(after) = queue::lease(entry, lease, now) else {
                continue;
            };
            match serde_json::from_str(&body) {
                Ok(event) if matches!(after.state, QueueState::Leased { .. }) => {
                    self.save_entry(id, after, None)?;
                    events.push(LeasedEvent { id, event, attempts: after.attempts, crashes: after.crashes });
                }
                Ok(_) => self.save_entry(id, after, Some("workers kept crashing on it"))?,
                // The body will never be readable. Keep the event for inspection, but let others
                // pass.
                Err(error) => {
                    let dead = QueueEntry { state: QueueState::Dead, ..after };
                    self.save_entry(id, dead, Some(&format!("invalid event body: {error}")))?;
                }
            }
        }
        let found = !events.is_empty();
        Ok(found.then(|| EventLease {
            id: lease,
            client: client.to_owned(),
            session: session.clone(),
            events,
        }))
    }

    /// Marks leased events as done. Must run in the transaction that stores their memories: a crash
    /// between two transactions would lose them or store them twice.
    pub fn settle(&self, lease: LeaseId, ids: &[PendingId]) -> Result<(), StoreError> {
        for &id in ids {
            let after = queue::settle(self.queue_entry(id)?, lease).ok_or(StoreError::LeaseLost)?;
            self.save_entry(id, after, None)?;
        }
        Ok(())
    }

    /// Records a failure of leased events: they wait for a retry, or die.
    pub fn fail(&self, lease: LeaseId, ids: &[PendingId], why: &str, now: Millis) -> Result<(), StoreError> {
        for &id in ids {
            let after = queue::fail(self.queue_entry(id)?, lease, now).ok_or(StoreError::LeaseLost)?;
            self.save_entry(id, after, Some(why))?;
        }
        Ok(())
    }

    /// Returns a lease unused: its events can be leased again at once.
    pub fn release(&self, lease: LeaseId) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "UPDATE pending_messages SET state = 'waiting', not_before_epoch = 0, lease_until_epoch = 0 WHERE state = 'leased' AND lease = ?1",
            [lease.0],
        )?)
    }

    /// Returns all leases unused: the only worker shuts down.
    pub fn release_all(&self) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "UPDATE pending_messages SET state = 'waiting', not_before_epoch = 0, lease_until_epoch = 0 WHERE state = 'leased'",
            [],
        )?)
    }

    /// Reclaims the leases of a worker that is known to be dead, because we hold its file lock now.
    pub fn reclaim_leases(&self) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "UPDATE pending_messages SET crashes = crashes + 1, not_before_epoch = 0, lease_until_epoch = 0,
               state = CASE WHEN crashes + 1 >= ?1 THEN 'dead' ELSE 'waiting' END,
               error = CASE WHEN crashes + 1 >= ?1 THEN 'workers kept crashing on it' ELSE error END
             WHERE state = 'leased'",
            [claude_mem_core::limits::CRASHES_MAX],
        )?)
    }

    /// Makes a dead event wait again. False if it is not dead.
    pub fn retry_pending(&self, id: PendingId) -> Result<bool, StoreError> {
        let Some(after) = queue::retry(self.queue_entry(id)?) else {
            return Ok(false);
        };
        self.save_entry(id, after, None)?;
        Ok(true)
    }

    /// Deletes a dead event. False if it is not dead.
    pub fn drop_pending(&self, id: PendingId) -> Result<bool, StoreError> {
        self.queue_entry(id)?;
        Ok(self.tx.execute("DELETE FROM pending_messages WHERE id = ?1 AND state = 'dead'", [id.sql()])? == 1)
    }

    /// Deletes up to `rows_max` settled events, which are only counted by `status`; their keys stay
    /// in `events_seen`. Call it until it deletes fewer than `rows_max`.
    pub fn delete_done_before(&self, accepted_before: Millis, rows_max: u32) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "DELETE FROM pending_messages WHERE id IN (SELECT id FROM pending_messages
             WHERE state = 'done' AND accepted_at_epoch < ?1 LIMIT ?2)",
            params![accepted_before.sql(), rows_max],
        )?)
    }

    fn save_entry(&self, id: PendingId, entry: QueueEntry, error: Option<&str>) -> Result<(), StoreError> {
        let (state, not_before, lease, until) = match entry.state {
            QueueState::Waiting { not_before } => ("waiting", not_before, 0, Millis(0)),
            QueueState::Leased { lease, until } => ("leased", Millis(0), lease.0, until),
            QueueState::Done => ("done", Millis(0), 0, Millis(0)),
            QueueState::Dead => ("dead", Millis(0), 0, Millis(0)),
        };
        // A done event no longer needs its body.
        self.tx
            .prepare_cached(
                "UPDATE pending_messages SET state = ?2, not_before_epoch = ?3, lease = ?4, lease_until_epoch = ?5,
                   attempts = ?6, crashes = ?7, error = coalesce(?8, error),
                   body = CASE WHEN ?2 = 'done' THEN '' ELSE body END WHERE id = ?1",
            )?
            .execute(params![id.sql(), state, not_before.sql(), lease, until.sql(), entry.attempts, entry.crashes, error.map(text_column)])?;
        Ok(())
    }
}
