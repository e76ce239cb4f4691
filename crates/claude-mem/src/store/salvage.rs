//! What a damaged database can still tell.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::Store;
use crate::hook::event::Event;
use crate::ids::ClientSessionId;

/// What must not be lost with a database: events that nobody has made anything of, and who asked
/// not to be remembered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Salvage {
    pub events: Vec<Event>,
    pub ignored: Vec<(String, ClientSessionId)>,
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
        }
    }
}

/// From both ends, because a scan stops at the first page that does not read.
fn events(conn: &Connection) -> Vec<Event> {
    let mut found: Vec<(i64, Event)> = Vec::new();
    for order in ["ASC", "DESC"] {
        let sql = format!(
            "SELECT id, body FROM pending_messages NOT INDEXED WHERE state IN ('waiting', 'leased') ORDER BY id {order}"
        );
        each(conn, &sql, |row| {
            let (id, body): (i64, String) = (row.get(0)?, row.get(1)?);
            if let Ok(event) = serde_json::from_str(&body)
                && found.iter().all(|(known, _)| *known != id)
            {
                found.push((id, event));
            }
            Ok(())
        });
    }
    found.sort_by_key(|(id, _)| *id);
    found.into_iter().map(|(_, event)| event).collect()
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
