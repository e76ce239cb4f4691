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
    /// Reads what can be read. Nothing here is an error: the file is known to be damaged.
    #[allow(
        clippy::disallowed_methods,
        reason = "the doors of `open` refuse what is damaged"
    )]
    pub fn salvage(damaged: &Path) -> Salvage {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let Ok(conn) = Connection::open_with_flags(damaged, flags) else {
            return Salvage::default();
        };
        Salvage {
            events: events(&conn),
            ignored: ignored(&conn),
            tombstones: tombstones(&conn),
        }
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

/// From both ends, because a scan stops at the first page that does not read.
fn events(conn: &Connection) -> Vec<SalvagedEvent> {
    let mut found = BTreeMap::new();
    for order in ["ASC", "DESC"] {
        let sql = format!(
            "SELECT id, body, state, error FROM pending_messages NOT INDEXED
             WHERE state IN ('waiting', 'leased', 'dead') ORDER BY id {order}"
        );
        each(conn, &sql, |row| {
            let (id, body): (i64, String) = (row.get(0)?, row.get(1)?);
            let is_dead = row.get_ref(2)?.as_str()? == "dead";
            let error: Option<String> = row.get(3)?;
            if let Ok(event) = serde_json::from_str(&body) {
                let dead = is_dead.then(|| error.unwrap_or_default());
                let key = super::inbox::noted_key(&body);
                found.insert(id, SalvagedEvent { event, key, dead });
            }
            Ok(())
        });
    }
    found.into_values().collect()
}

fn ignored(conn: &Connection) -> Vec<(String, ClientSessionId)> {
    let mut found = Vec::new();
    let sql = "SELECT client, content_session_id FROM sdk_sessions NOT INDEXED WHERE transcript_closed <> 0";
    each(conn, sql, |row| {
        found.push((row.get(0)?, ClientSessionId(row.get(1)?)));
        Ok(())
    });
    found
}

fn tombstones(conn: &Connection) -> Vec<String> {
    let mut found = BTreeSet::new();
    for order in ["ASC", "DESC"] {
        let sql = format!("SELECT key FROM tombstones ORDER BY key {order}");
        each(conn, &sql, |row| {
            found.insert(row.get(0)?);
            Ok(())
        });
    }
    found.into_iter().collect()
}

/// Every row up to the first that does not read.
fn each(
    conn: &Connection,
    sql: &str,
    mut take: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
) {
    let Ok(mut statement) = conn.prepare(sql) else {
        return;
    };
    let Ok(mut rows) = statement.query([]) else {
        return;
    };
    while let Ok(Some(row)) = rows.next() {
        if take(row).is_err() {
            return;
        }
    }
}
