//! Reads databases of the legacy program of the same name, in all its versions, for the importer.
//!
//! [`LegacyDatabase`] goes by the tables and columns that exist, because the recorded schema
//! version is unreliable. It never writes to the file. A file with a write-ahead log is copied
//! first: the newest rows are in the log, and reading a log needs write access.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::Value;

use super::{StoreError, open};
use claude_mem_core::paths;
use claude_mem_core::paths::with_suffix;

/// The tables of the legacy program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LegacyTable {
    Sessions,
    Prompts,
    Observations,
    Summaries,
    /// Sessions, memories and overviews of version 3.
    V3Sessions,
    StreamingSessions,
    Memories,
    Overviews,
    /// Unprocessed work: raw tool input and output.
    Queue,
    OldQueue,
    ToolUses,
}

/// One of our field names, and the columns that have held it.
type LegacyField = (&'static str, &'static [&'static str]);

const MEMORY: LegacyField = ("memory", &["memory_session_id", "sdk_session_id"]);
const CONTENT: LegacyField = ("content", &["content_session_id", "claude_session_id"]);
const PROJECT: LegacyField = ("project", &["project"]);
const MERGED: LegacyField = ("merged", &["merged_into_project"]);
const AT: LegacyField = ("at", &["created_at_epoch", "started_at_epoch"]);
const AT_TEXT: LegacyField = ("at_text", &["created_at", "started_at"]);
const NUMBER: LegacyField = ("number", &["prompt_number"]);
const TOKENS: LegacyField = ("tokens", &["discovery_tokens"]);
const TITLE: LegacyField = ("title", &["title"]);
const SUBTITLE: LegacyField = ("subtitle", &["subtitle"]);
const FACTS: LegacyField = ("facts", &["facts"]);
const CONCEPTS: LegacyField = ("concepts", &["concepts"]);
const FILES_READ: LegacyField = ("files_read", &["files_read"]);
const OLD_SESSION: LegacyField = ("content", &["session_id"]);

impl LegacyTable {
    /// In reading order: referenced tables come first.
    pub const ALL: [Self; 11] = [
        Self::Sessions,
        Self::V3Sessions,
        Self::StreamingSessions,
        Self::Prompts,
        Self::Observations,
        Self::Memories,
        Self::Summaries,
        Self::Overviews,
        Self::Queue,
        Self::OldQueue,
        Self::ToolUses,
    ];

    /// The table's name in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sdk_sessions",
            Self::Prompts => "user_prompts",
            Self::Observations => "observations",
            Self::Summaries => "session_summaries",
            Self::V3Sessions => "sessions",
            Self::StreamingSessions => "streaming_sessions",
            Self::Memories => "memories",
            Self::Overviews => "overviews",
            Self::Queue => "pending_messages",
            Self::OldQueue => "observation_queue",
            Self::ToolUses => "tool_uses",
        }
    }

    const fn fields(self) -> &'static [LegacyField] {
        match self {
            Self::Sessions | Self::StreamingSessions => &[
                MEMORY,
                CONTENT,
                PROJECT,
                AT,
                AT_TEXT,
                TITLE,
                ("id", &["id"]),
                ("platform", &["platform_source"]),
                ("prompt", &["user_prompt"]),
                ("custom_title", &["custom_title"]),
                ("completed", &["completed_at_epoch"]),
                ("status", &["status"]),
                ("prompts", &["prompt_counter"]),
            ],
            Self::Prompts => &[
                MEMORY,
                CONTENT,
                PROJECT,
                AT,
                AT_TEXT,
                NUMBER,
                ("session_row", &["session_db_id"]),
                ("text", &["prompt_text"]),
            ],
            Self::Observations => &[
                MEMORY,
                CONTENT,
                PROJECT,
                MERGED,
                AT,
                AT_TEXT,
                NUMBER,
                TOKENS,
                TITLE,
                SUBTITLE,
                FACTS,
                CONCEPTS,
                FILES_READ,
                ("files_modified", &["files_modified"]),
                ("text", &["text"]),
                ("narrative", &["narrative"]),
                ("type", &["type"]),
                ("model", &["generated_by_model"]),
                ("agent_id", &["agent_id"]),
                ("agent_type", &["agent_type"]),
            ],
            Self::Summaries => &[
                MEMORY,
                CONTENT,
                PROJECT,
                MERGED,
                AT,
                AT_TEXT,
                NUMBER,
                TOKENS,
                FILES_READ,
                ("files_edited", &["files_edited"]),
                ("request", &["request"]),
                ("investigated", &["investigated"]),
                ("learned", &["learned"]),
                ("completed", &["completed"]),
                ("next_steps", &["next_steps"]),
                ("notes", &["notes"]),
            ],
            Self::V3Sessions => &[OLD_SESSION, PROJECT, AT, AT_TEXT],
            Self::Memories => &[
                OLD_SESSION,
                PROJECT,
                AT,
                AT_TEXT,
                TITLE,
                SUBTITLE,
                FACTS,
                CONCEPTS,
                FILES_READ,
                ("text", &["text"]),
                ("keywords", &["keywords"]),
                ("files", &["files_touched"]),
            ],
            Self::Overviews => &[OLD_SESSION, PROJECT, AT, AT_TEXT, ("completed", &["content"])],
            Self::Queue | Self::OldQueue | Self::ToolUses => &[],
        }
    }
}

/// A legacy row, by our field names. Every field may be missing.
#[derive(Clone, Debug, Default)]
pub struct LegacyRow {
    pub id: i64,
    values: Vec<(&'static str, Value)>,
}

impl LegacyRow {
    /// A row of the legacy JSON export, which uses the same column names.
    pub fn from_json(table: LegacyTable, row: &serde_json::Map<String, serde_json::Value>) -> Self {
        let values = table.fields().iter().filter_map(|(field, columns)| {
            let value = columns.iter().find_map(|column| row.get(*column))?;
            Some((*field, from_json_value(value)))
        });
        Self { id: row.get("id").and_then(serde_json::Value::as_i64).unwrap_or(0), values: values.collect() }
    }

    /// A field as text; other types as SQLite would print them.
    pub fn text(&self, field: &str) -> Option<String> {
        let text = match self.value(field)? {
            Value::Text(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            Value::Real(number) => number.to_string(),
            Value::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Value::Null => return None,
        };
        Some(text).filter(|text| !text.trim().is_empty())
    }

    /// A field as an integer, converted if necessary.
    pub fn number(&self, field: &str) -> Option<i64> {
        match self.value(field)? {
            Value::Integer(number) => Some(*number),
            #[allow(clippy::cast_possible_truncation, reason = "saturation is acceptable for foreign data")]
            Value::Real(number) => Some(*number as i64),
            Value::Text(text) => text.trim().parse().ok(),
            Value::Null | Value::Blob(_) => None,
        }
    }

    fn value(&self, field: &str) -> Option<&Value> {
        self.values.iter().find(|(name, _)| *name == field).map(|(_, value)| value)
    }
}

/// Converts a JSON value. The database stores lists as JSON text, so lists become text.
fn from_json_value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(whole) => Value::Integer(whole),
            None => number.as_f64().map_or(Value::Null, Value::Real),
        },
        other => Value::Text(other.to_string()),
    }
}

/// A legacy database, open for reading.
#[derive(Debug)]
pub struct LegacyDatabase {
    conn: Connection,
    tables: Vec<(LegacyTable, Vec<String>)>,
    _copy: Option<ScratchCopy>,
}

/// A directory that is removed when the copy is no longer needed.
#[derive(Debug)]
struct ScratchCopy(PathBuf);

impl Drop for ScratchCopy {
    fn drop(&mut self) {
        // The next import removes what could not be removed now.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl LegacyDatabase {
    /// Opens the file. `scratch` is our own directory for a copy; it is emptied first and removed
    /// afterwards. `Ok(None)`: a database, but not a legacy one.
    pub fn open(path: &Path, scratch: &Path) -> Result<Option<Self>, StoreError> {
        let meta = std::fs::metadata(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => StoreError::Missing,
            _ => StoreError::io(path.display(), e),
        })?;
        if meta.is_dir() {
            return Ok(None);
        }
        match open::check_application_id(path, open::APPLICATION_ID) {
            Ok(()) => return Ok(None),
            Err(StoreError::Foreign) => {}
            Err(e) => return Err(e),
        }
        let log = with_suffix(path, "-wal");
        let has_log = match std::fs::metadata(&log) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => false,
            // The newest rows may be in the log, so it must not be skipped.
            Err(e) => return Err(StoreError::io(log.display(), e)),
            Ok(meta) => meta.len() > 0,
        };
        let (conn, copy) = if has_log {
            let copy = copy_with_wal(path, &log, scratch)?;
            (open::open_foreign_copy(&copy.0.join(COPY_NAME))?, Some(copy))
        } else {
            (open::open_foreign(path)?, None)
        };
        let tables = list_tables(&conn)?;
        let memory = |table: &LegacyTable| {
            use LegacyTable::{Memories, Observations, Sessions};
            matches!(table, Sessions | Observations | Memories)
        };
        let is_theirs = tables.iter().any(|(table, _)| memory(table));
        Ok(is_theirs.then_some(Self { conn, tables, _copy: copy }))
    }

    /// How many rows a table has; 0 if it does not exist.
    pub fn count(&self, table: LegacyTable) -> Result<u64, StoreError> {
        if !self.has_table(table) {
            return Ok(0);
        }
        let sql = format!("SELECT count(*) FROM {}", table.name());
        Ok(self.conn.query_row(&sql, [], |row| row.get(0))?)
    }

    /// Rows with an id above `after`, ascending.
    pub fn page(&self, table: LegacyTable, after: i64, limit: u32) -> Result<Vec<LegacyRow>, StoreError> {
        let Some((_, columns)) = self.tables.iter().find(|(known, _)| *known == table) else {
            return Ok(Vec::new());
        };
        let there = |names: &[&'static str]| {
            let mut names = names.iter();
            names.find(|name| columns.iter().any(|column| column == *name)).copied()
        };
        let fields = table.fields().iter();
        let fields: Vec<(&'static str, &'static str)> =
            fields.filter_map(|(field, names)| Some((*field, there(names)?))).collect();
        let chosen: Vec<String> = fields.iter().map(|(_, column)| format!(", \"{column}\"")).collect();
        let sql = format!(
            "SELECT rowid{} FROM {} WHERE rowid > ?1 ORDER BY rowid LIMIT ?2",
            chosen.concat(),
            table.name()
        );
        let mut rows = self.conn.prepare_cached(&sql)?;
        let read = |row: &rusqlite::Row<'_>| {
            let values = fields.iter().enumerate();
            let values = values.map(|(at, (field, _))| Ok((*field, row.get(at + 1)?)));
            Ok(LegacyRow { id: row.get(0)?, values: values.collect::<rusqlite::Result<_>>()? })
        };
        Ok(rows.query_map([after, i64::from(limit)], read)?.collect::<Result<_, _>>()?)
    }

    fn has_table(&self, table: LegacyTable) -> bool {
        self.tables.iter().any(|(known, _)| *known == table)
    }
}

const COPY_NAME: &str = "earlier.db";

fn copy_with_wal(path: &Path, log: &Path, scratch: &Path) -> Result<ScratchCopy, StoreError> {
    let io = |e| StoreError::io(scratch.display(), e);
    match std::fs::remove_dir_all(scratch) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(io(e)),
        _ => {}
    }
    paths::create_dir(scratch).map_err(io)?;
    let copied = ScratchCopy(scratch.to_owned());
    let to = scratch.join(COPY_NAME);
    // The log first: what a checkpoint moves meanwhile is then in both copies, never in neither.
    for (from, to) in [(log, with_suffix(&to, "-wal")), (path, to)] {
        let mut from = paths::open_file(from).map_err(io)?;
        let mut to = paths::create_file(&to).map_err(io)?;
        std::io::copy(&mut from, &mut to).map_err(io)?;
    }
    Ok(copied)
}

fn list_tables(conn: &Connection) -> Result<Vec<(LegacyTable, Vec<String>)>, StoreError> {
    let mut found = Vec::new();
    for table in LegacyTable::ALL {
        let is_table: bool = conn.query_row(
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1)",
            [table.name()],
            |row| row.get(0),
        )?;
        if is_table {
            let mut statement = conn.prepare("SELECT name FROM pragma_table_info(?1)")?;
            let columns = statement.query_map([table.name()], |row| row.get(0))?;
            found.push((table, columns.collect::<Result<_, _>>()?));
        }
    }
    Ok(found)
}
