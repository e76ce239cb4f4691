//! Reads what is still readable in a corrupt database.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};

use super::{AcceptOutcome, RowId, RowKind, Store, StoreError, StoreWriter};
use crate::columns::text_column;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::{Event, EventKey};
use claude_mem_core::event_key;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::limits::ATTEMPTS_MAX;

/// Data that must survive a corrupt database: unprocessed events, sessions that must not be remembered,
/// and tombstones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SalvagedData {
    pub events: Vec<SalvagedEvent>,
    pub ignored: Vec<(String, ClientSessionId)>,
    pub tombstones: Vec<String>,
    /// The parts that could not be read completely.
    pub incomplete: Vec<String>,
}

/// An unsettled event of the queue.
#[derive(Clone, Debug, PartialEq)]
pub struct SalvagedEvent {
    pub event: Event,
    /// The key it was accepted under, if it cannot be computed from the event.
    pub key: Option<EventKey>,
    /// Why the event is dead; `None` if it is not.
    pub dead_reason: Option<String>,
}

impl Store {
    /// Reads what is readable. Corruption is expected and not an error. A file that cannot be
    /// opened is an error: its content is not lost yet.
    #[allow(clippy::disallowed_methods, reason = "the functions of `open` refuse a corrupt file")]
    pub fn salvage(damaged: &Path) -> Result<SalvagedData, StoreError> {
        let is_there = damaged.try_exists();
        if !is_there.map_err(|e| StoreError::io(damaged.display(), e))? {
            return Ok(SalvagedData::default());
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(damaged, flags)?;
        let mut found = SalvagedData::default();
        found.read_events(&conn);
        found.read_ignored(&conn);
        found.read_tombstones(&conn);
        Ok(found)
    }
}

impl StoreWriter<'_> {
    /// Queues an event again under its own key. False if it is queued already.
    pub fn requeue_salvaged(&self, salvaged: &SalvagedEvent, now: Millis) -> Result<bool, StoreError> {
        let event = &salvaged.event;
        let key = salvaged.key.unwrap_or_else(|| event_key::event_key(event, None));
        if self.accept(key, event, now)? == AcceptOutcome::Duplicate {
            return Ok(false);
        }
        if let Some(why) = &salvaged.dead_reason {
            self.tx.execute(
                "UPDATE pending_messages SET state = 'dead', attempts = ?2, error = ?3 WHERE id = ?1",
                params![self.tx.last_insert_rowid(), ATTEMPTS_MAX, text_column(why)],
            )?;
        }
        Ok(true)
    }

    /// Repeats what was forgotten since the backup was made.
    pub fn reapply_tombstones(&self, tombstones: &[String], now: Millis) -> Result<(), StoreError> {
        for tombstone in tombstones {
            self.import_tombstone(tombstone, now)?;
            let Some(uid) = tombstone.strip_prefix("uid:") else {
                continue;
            };
            for kind in RowKind::ALL {
                let sql = format!("SELECT id FROM {} WHERE uid = ?1", kind.table());
                let mut statement = self.tx.prepare_cached(&sql)?;
                let rows = statement.query_map([uid], |row| row.get(0))?;
                for id in rows.collect::<Result<Vec<i64>, _>>()? {
                    self.forget(RowId::new(kind, id), now)?;
                }
            }
        }
        Ok(())
    }
}

impl SalvagedData {
    fn read_events(&mut self, conn: &Connection) {
        let (mut found, mut unread) = (BTreeMap::new(), BTreeSet::new());
        let sql = "SELECT id, body, state, error FROM pending_messages NOT INDEXED
             WHERE state IN ('waiting', 'leased', 'dead') ORDER BY id";
        let all = read_from_both_ends(conn, sql, |row| {
            let (id, body): (i64, String) = (row.get(0)?, row.get(1)?);
            let is_dead = row.get_ref(2)?.as_str()? == "dead";
            let error: Option<String> = row.get(3)?;
            if let Ok(event) = serde_json::from_str(&body) {
                let dead = is_dead.then(|| error.unwrap_or_default());
                let key = super::accept::key_in_body(&body);
                found.insert(id, SalvagedEvent { event, key, dead_reason: dead });
            } else {
                unread.insert(id);
            }
            Ok(())
        });
        self.events = found.into_values().collect();
        self.record_if_incomplete(all && unread.is_empty(), "queued events");
    }

    fn read_ignored(&mut self, conn: &Connection) {
        let mut found = BTreeSet::new();
        let sql = "SELECT client, content_session_id FROM sdk_sessions NOT INDEXED
             WHERE transcript_closed <> 0 ORDER BY id";
        let all = read_from_both_ends(conn, sql, |row| {
            found.insert((row.get(0)?, row.get(1)?));
            Ok(())
        });
        let found = found.into_iter();
        self.ignored = found.map(|(client, session)| (client, ClientSessionId(session))).collect();
        self.record_if_incomplete(all, "ignored sessions");
    }

    fn read_tombstones(&mut self, conn: &Connection) {
        let mut found = BTreeSet::new();
        let sql = "SELECT key FROM tombstones ORDER BY key";
        let all = read_from_both_ends(conn, sql, |row| {
            found.insert(row.get(0)?);
            Ok(())
        });
        self.tombstones = found.into_iter().collect();
        self.record_if_incomplete(all, "records of forgotten memories");
    }

    fn record_if_incomplete(&mut self, all: bool, what: &str) {
        if !all {
            self.incomplete.push(what.to_owned());
        }
    }
}

/// Reads rows up to the first unreadable one, from both ends of the table. True if nothing was
/// missed.
fn read_from_both_ends(
    conn: &Connection,
    sql: &str,
    mut take: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
) -> bool {
    for_each_row(conn, sql, &mut take).is_ok()
        || for_each_row(conn, &format!("{sql} DESC"), &mut take).is_ok()
}

fn for_each_row(
    conn: &Connection,
    sql: &str,
    take: &mut dyn FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut statement = match conn.prepare(sql) {
        // An older schema lacks the table or column, so there is nothing to read.
        Err(e) if e.sqlite_error_code() == Some(rusqlite::ErrorCode::Unknown) => return Ok(()),
        statement => statement?,
    };
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        take(row)?;
    }
    Ok(())
}
