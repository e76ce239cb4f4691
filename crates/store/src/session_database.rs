//! Reads past sessions from the database in which a client keeps them, for the importer.
//!
//! [`SessionDatabase`] knows one layout: the tables `session`, `message` and `part`, the latter two with their
//! content as JSON. It never writes, and creates no files beside the client's.

use std::path::Path;

use rusqlite::{Connection, params};
use serde_json::{Value, json};

use super::{StoreError, open};
use claude_mem_core::clock::Millis;
use claude_mem_core::paths::with_suffix;

/// The tables and columns that are read. A database without them has another layout.
const COLUMNS: [(&str, &str); 10] = [
    ("session", "id"),
    ("session", "parent_id"),
    ("session", "directory"),
    ("session", "version"),
    ("session", "time_created"),
    ("session", "time_updated"),
    ("message", "session_id"),
    ("message", "data"),
    ("part", "message_id"),
    ("part", "data"),
];

/// A client's database of sessions, open for reading.
#[derive(Debug)]
pub struct SessionDatabase {
    conn: Connection,
}

/// A session in a client's database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseSession {
    pub id: String,
    pub directory: String,
    pub version: String,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub bytes: u64,
}

impl SessionDatabase {
    /// Opens the file. `Ok(None)`: a database of another layout.
    pub fn open(path: &Path) -> Result<Option<Self>, StoreError> {
        let meta = std::fs::metadata(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => StoreError::Missing,
            _ => StoreError::io(path.display(), e),
        })?;
        if !meta.is_file() {
            return Ok(None);
        }
        // A log that exists holds the newest rows, and the client may be writing to it.
        let log = std::fs::metadata(with_suffix(path, "-wal")).is_ok_and(|log| log.len() > 0);
        let conn = if log { open::open_rebuildable(path, false)? } else { open::open_foreign(path)? };
        let database = Self { conn };
        for (table, column) in COLUMNS {
            let known = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
            if database.conn.query_row(known, params![table, column], |row| row.get::<_, u32>(0))? == 0 {
                return Ok(None);
            }
        }
        Ok(Some(database))
    }

    /// The sessions that a person has led, oldest first. Those of subagents have a parent.
    pub fn sessions(&self) -> Result<Vec<DatabaseSession>, StoreError> {
        let mut statement = self.conn.prepare(
            "SELECT id, directory, version, time_created, time_updated,
               (SELECT coalesce(sum(length(data)), 0) FROM part WHERE part.session_id = session.id)
             FROM session WHERE parent_id IS NULL ORDER BY time_created, id",
        )?;
        let rows = statement.query_map([], |row| {
            Ok(DatabaseSession {
                id: row.get(0)?,
                directory: row.get(1)?,
                version: row.get(2)?,
                created_at: Millis(row.get(3)?),
                updated_at: Millis(row.get(4)?),
                bytes: row.get(5)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The messages of a session in their order, one line of JSON each: `id`, `role`, `at` and `parts`. A part
    /// that is not JSON is left out.
    pub fn messages(&self, session: &str) -> Result<Vec<String>, StoreError> {
        let mut parts =
            self.conn.prepare("SELECT data FROM part WHERE message_id = ?1 ORDER BY time_created, id")?;
        let mut statement = self.conn.prepare(
            "SELECT id, time_created, CASE WHEN json_valid(data) THEN json_extract(data, '$.role') END
             FROM message WHERE session_id = ?1 ORDER BY time_created, id",
        )?;
        let mut rows = statement.query([session])?;
        let mut lines = Vec::new();
        while let Some(row) = rows.next()? {
            let (id, at): (String, i64) = (row.get(0)?, row.get(1)?);
            let role: Option<String> = row.get(2)?;
            let data = parts.query_map([&id], |row| row.get::<_, String>(0))?;
            let data: Vec<String> = data.collect::<Result<_, _>>()?;
            let data: Vec<Value> = data.iter().filter_map(|text| serde_json::from_str(text).ok()).collect();
            lines.push(json!({ "id": id, "role": role, "at": at, "parts": data }).to_string());
        }
        Ok(lines)
    }
}

#[cfg(test)]
#[path = "session_database_tests.rs"]
mod tests;
