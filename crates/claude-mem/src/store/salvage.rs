//! What a damaged database can still tell.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};

use super::{Accepted, RowKind, Store, StoreError, Writes};
use crate::clock::Millis;
use crate::hook::event::{Event, EventKey};
use crate::hook::key;
use crate::ids::ClientSessionId;
use crate::limits::ATTEMPTS_MAX;

/// What must not be lost with a database: events that nobody has made anything of, who asked not
/// to be remembered, and what was forgotten.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Salvage {
    pub events: Vec<SalvagedEvent>,
    pub ignored: Vec<(String, ClientSessionId)>,
    pub tombstones: Vec<String>,
    /// Of which of them some could not be read.
    pub incomplete: Vec<String>,
}

/// An event of the queue that was not settled.
#[derive(Clone, Debug, PartialEq)]
pub struct SalvagedEvent {
    pub event: Event,
    /// The one it was accepted under, where the event alone does not tell it.
    pub key: Option<EventKey>,
    /// Why it is dead, if it is.
    pub dead: Option<String>,
}

impl Store {
    /// Reads what can be read. That the file is damaged is known, and no error; that it cannot be
    /// opened is one: what is in it is not lost yet.
    #[allow(
        clippy::disallowed_methods,
        reason = "the doors of `open` refuse what is damaged"
    )]
    pub fn salvage(damaged: &Path) -> Result<Salvage, StoreError> {
        let is_there = damaged.try_exists();
        if !is_there.map_err(|e| StoreError::io(damaged.display(), e))? {
            return Ok(Salvage::default());
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(damaged, flags)?;
        let mut found = Salvage::default();
        found.events(&conn);
        found.ignored(&conn);
        found.tombstones(&conn);
        Ok(found)
    }
}

impl Writes<'_> {
    /// Queues an event again, under its own key, so that one that is queued here already stays
    /// one. True if it was not.
    pub fn take_back(&self, salvaged: &SalvagedEvent, now: Millis) -> Result<bool, StoreError> {
        let event = &salvaged.event;
        let key = salvaged.key.unwrap_or_else(|| key::of(event, None));
        if self.accept(key, event, now)? == Accepted::Known {
            return Ok(false);
        }
        if let Some(why) = &salvaged.dead {
            self.tx.execute(
                "UPDATE pending_messages SET state = 'dead', attempts = ?2, error = ?3 WHERE id = ?1",
                params![self.tx.last_insert_rowid(), ATTEMPTS_MAX, why],
            )?;
        }
        Ok(true)
    }

    /// What was forgotten since the backup was made is forgotten again.
    pub fn forget_again(&self, tombstones: &[String], now: Millis) -> Result<(), StoreError> {
        for tombstone in tombstones {
            self.bring_tombstone(tombstone, now)?;
            let Some(uid) = tombstone.strip_prefix("uid:") else {
                continue;
            };
            for kind in RowKind::ALL {
                let sql = format!("SELECT id FROM {} WHERE uid = ?1", kind.table());
                let mut rows = self.tx.prepare_cached(&sql)?;
                let rows = rows.query_map([uid], |row| row.get(0))?;
                for id in rows.collect::<Result<Vec<i64>, _>>()? {
                    self.forget(kind, id, now)?;
                }
            }
        }
        Ok(())
    }
}

impl Salvage {
    fn events(&mut self, conn: &Connection) {
        let (mut found, mut unread) = (BTreeMap::new(), BTreeSet::new());
        let sql = "SELECT id, body, state, error FROM pending_messages NOT INDEXED
             WHERE state IN ('waiting', 'leased', 'dead') ORDER BY id";
        let all = from_both_ends(conn, sql, |row| {
            let (id, body): (i64, String) = (row.get(0)?, row.get(1)?);
            let is_dead = row.get_ref(2)?.as_str()? == "dead";
            let error: Option<String> = row.get(3)?;
            if let Ok(event) = serde_json::from_str(&body) {
                let dead = is_dead.then(|| error.unwrap_or_default());
                let key = super::inbox::noted_key(&body);
                found.insert(id, SalvagedEvent { event, key, dead });
            } else {
                unread.insert(id);
            }
            Ok(())
        });
        self.events = found.into_values().collect();
        self.note(all && unread.is_empty(), "events of the queue");
    }

    fn ignored(&mut self, conn: &Connection) {
        let mut found = BTreeSet::new();
        let sql = "SELECT client, content_session_id FROM sdk_sessions NOT INDEXED
             WHERE transcript_closed <> 0 ORDER BY id";
        let all = from_both_ends(conn, sql, |row| {
            found.insert((row.get(0)?, row.get(1)?));
            Ok(())
        });
        let found = found.into_iter();
        self.ignored = found
            .map(|(client, session)| (client, ClientSessionId(session)))
            .collect();
        self.note(all, "sessions not to be remembered");
    }

    fn tombstones(&mut self, conn: &Connection) {
        let mut found = BTreeSet::new();
        let sql = "SELECT key FROM tombstones ORDER BY key";
        let all = from_both_ends(conn, sql, |row| {
            found.insert(row.get(0)?);
            Ok(())
        });
        self.tombstones = found.into_iter().collect();
        self.note(all, "what was forgotten");
    }

    fn note(&mut self, all: bool, what: &str) {
        if !all {
            self.incomplete.push(what.to_owned());
        }
    }
}

/// Every row up to the first that does not read, from one end and from the other. True if that
/// was all of them.
fn from_both_ends(
    conn: &Connection,
    sql: &str,
    mut take: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
) -> bool {
    each(conn, sql, &mut take).is_ok() || each(conn, &format!("{sql} DESC"), &mut take).is_ok()
}

fn each(
    conn: &Connection,
    sql: &str,
    take: &mut dyn FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut statement = match conn.prepare(sql) {
        // An older schema has no such table or column, and so nothing in it.
        Err(e) if e.sqlite_error_code() == Some(rusqlite::ErrorCode::Unknown) => return Ok(()),
        statement => statement?,
    };
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        take(row)?;
    }
    Ok(())
}
