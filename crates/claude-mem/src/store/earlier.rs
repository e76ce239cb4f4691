//! The database of the earlier program of this name, all of its versions, for the importer.
//!
//! Its own account of its version is not to be trusted: what counts is which tables and columns
//! are really there. Nothing is ever written to it. A file with a write-ahead log is copied
//! first, because the newest rows are in the log and reading that needs a place to write.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::Value;

use super::{StoreError, open};
use crate::paths;

/// What it keeps, by what it is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EarlierTable {
    Sessions,
    Prompts,
    Observations,
    Summaries,
    /// Sessions, memories and overviews of its third version,
    OldSessions,
    Streamed,
    Memories,
    Overviews,
    /// and what it had not worked on: raw input and output of tools.
    Queue,
    OldQueue,
    ToolUses,
}

/// A field of ours and the columns that have held it.
type Field = (&'static str, &'static [&'static str]);

const MEMORY: Field = ("memory", &["memory_session_id", "sdk_session_id"]);
const CONTENT: Field = ("content", &["content_session_id", "claude_session_id"]);
const PROJECT: Field = ("project", &["project"]);
const MERGED: Field = ("merged", &["merged_into_project"]);
const AT: Field = ("at", &["created_at_epoch", "started_at_epoch"]);
const AT_TEXT: Field = ("at_text", &["created_at", "started_at"]);
const NUMBER: Field = ("number", &["prompt_number"]);
const TOKENS: Field = ("tokens", &["discovery_tokens"]);
const TITLE: Field = ("title", &["title"]);
const SUBTITLE: Field = ("subtitle", &["subtitle"]);
const FACTS: Field = ("facts", &["facts"]);
const CONCEPTS: Field = ("concepts", &["concepts"]);
const FILES_READ: Field = ("files_read", &["files_read"]);
const OLD_SESSION: Field = ("content", &["session_id"]);

impl EarlierTable {
    /// In the order in which they are to be read: what others refer to comes first.
    pub const ALL: [Self; 11] = [
        Self::Sessions,
        Self::OldSessions,
        Self::Streamed,
        Self::Prompts,
        Self::Observations,
        Self::Memories,
        Self::Summaries,
        Self::Overviews,
        Self::Queue,
        Self::OldQueue,
        Self::ToolUses,
    ];

    /// What it calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sdk_sessions",
            Self::Prompts => "user_prompts",
            Self::Observations => "observations",
            Self::Summaries => "session_summaries",
            Self::OldSessions => "sessions",
            Self::Streamed => "streaming_sessions",
            Self::Memories => "memories",
            Self::Overviews => "overviews",
            Self::Queue => "pending_messages",
            Self::OldQueue => "observation_queue",
            Self::ToolUses => "tool_uses",
        }
    }

    const fn fields(self) -> &'static [Field] {
        match self {
            Self::Sessions | Self::Streamed => &[
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
            Self::OldSessions => &[OLD_SESSION, PROJECT, AT, AT_TEXT],
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
            Self::Overviews => &[
                OLD_SESSION,
                PROJECT,
                AT,
                AT_TEXT,
                ("completed", &["content"]),
            ],
            Self::Queue | Self::OldQueue | Self::ToolUses => &[],
        }
    }
}

/// One of its rows, by our names for its fields. Every field may be missing.
#[derive(Clone, Debug, Default)]
pub struct EarlierRow {
    pub id: i64,
    values: Vec<(&'static str, Value)>,
}

impl EarlierRow {
    /// A row that did not come from a database: its JSON export calls its fields the same.
    pub fn from_json(
        table: EarlierTable,
        row: &serde_json::Map<String, serde_json::Value>,
    ) -> Self {
        let values = table.fields().iter().filter_map(|(field, columns)| {
            let value = columns.iter().find_map(|column| row.get(*column))?;
            Some((*field, value_of(value)))
        });
        Self {
            id: row
                .get("id")
                .and_then(serde_json::Value::as_i64)
                .unwrap_or(0),
            values: values.collect(),
        }
    }

    /// Text as it is; other values as SQLite would print them.
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

    pub fn number(&self, field: &str) -> Option<i64> {
        match self.value(field)? {
            Value::Integer(number) => Some(*number),
            #[allow(
                clippy::cast_possible_truncation,
                reason = "what does not fit is cut off"
            )]
            Value::Real(number) => Some(*number as i64),
            Value::Text(text) => text.trim().parse().ok(),
            Value::Null | Value::Blob(_) => None,
        }
    }

    fn value(&self, field: &str) -> Option<&Value> {
        self.values
            .iter()
            .find(|(name, _)| *name == field)
            .map(|(_, value)| value)
    }
}

/// Lists may stand in JSON as lists, where the database has their text.
fn value_of(json: &serde_json::Value) -> Value {
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

/// Its database, open for looking.
#[derive(Debug)]
pub struct Earlier {
    conn: Connection,
    tables: Vec<(EarlierTable, Vec<String>)>,
    _copy: Option<Copied>,
}

/// Removed with everything in it when nobody looks any more.
#[derive(Debug)]
struct Copied(PathBuf);

impl Drop for Copied {
    fn drop(&mut self) {
        // What stays behind is removed by the next import.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Earlier {
    /// Opens the file; `scratch` is a directory of our own that may be filled and is removed.
    /// `Ok(None)`: it is a database, and not one of that program's.
    pub fn open(path: &Path, scratch: &Path) -> Result<Option<Self>, StoreError> {
        let meta = std::fs::metadata(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => StoreError::Missing,
            _ => StoreError::io(path.display(), e),
        })?;
        if meta.is_dir() {
            return Ok(None);
        }
        match open::refuse_other_than(path, open::APPLICATION_ID) {
            Ok(()) => return Ok(None),
            Err(StoreError::Foreign) => {}
            Err(e) => return Err(e),
        }
        let log = beside(path, "-wal");
        let has_log = match std::fs::metadata(&log) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => false,
            // Its newest rows stand there.
            Err(e) => return Err(StoreError::io(log.display(), e)),
            Ok(meta) => meta.len() > 0,
        };
        let (conn, copy) = if has_log {
            let copy = copied(path, &log, scratch)?;
            (open::foreign_copy(&copy.0.join(COPY))?, Some(copy))
        } else {
            (open::foreign(path)?, None)
        };
        let tables = tables(&conn)?;
        let memory = |table: &EarlierTable| {
            use EarlierTable::{Memories, Observations, Sessions};
            matches!(table, Sessions | Observations | Memories)
        };
        let is_theirs = tables.iter().any(|(table, _)| memory(table));
        Ok(is_theirs.then_some(Self {
            conn,
            tables,
            _copy: copy,
        }))
    }

    pub fn count(&self, table: EarlierTable) -> Result<u64, StoreError> {
        if !self.has(table) {
            return Ok(0);
        }
        let sql = format!("SELECT count(*) FROM {}", table.name());
        Ok(self.conn.query_row(&sql, [], |row| row.get(0))?)
    }

    /// Rows behind `after`, in the order in which they were made.
    pub fn page(
        &self,
        table: EarlierTable,
        after: i64,
        limit: u32,
    ) -> Result<Vec<EarlierRow>, StoreError> {
        let Some((_, columns)) = self.tables.iter().find(|(known, _)| *known == table) else {
            return Ok(Vec::new());
        };
        let there = |names: &[&'static str]| {
            let mut names = names.iter();
            names
                .find(|name| columns.iter().any(|column| column == *name))
                .copied()
        };
        let fields = table.fields().iter();
        let fields: Vec<(&'static str, &'static str)> = fields
            .filter_map(|(field, names)| Some((*field, there(names)?)))
            .collect();
        let chosen: Vec<String> = fields
            .iter()
            .map(|(_, column)| format!(", \"{column}\""))
            .collect();
        let sql = format!(
            "SELECT rowid{} FROM {} WHERE rowid > ?1 ORDER BY rowid LIMIT ?2",
            chosen.concat(),
            table.name()
        );
        let mut rows = self.conn.prepare_cached(&sql)?;
        let read = |row: &rusqlite::Row<'_>| {
            let values = fields.iter().enumerate();
            let values = values.map(|(at, (field, _))| Ok((*field, row.get(at + 1)?)));
            Ok(EarlierRow {
                id: row.get(0)?,
                values: values.collect::<rusqlite::Result<_>>()?,
            })
        };
        Ok(rows
            .query_map([after, i64::from(limit)], read)?
            .collect::<Result<_, _>>()?)
    }

    fn has(&self, table: EarlierTable) -> bool {
        self.tables.iter().any(|(known, _)| *known == table)
    }
}

const COPY: &str = "earlier.db";

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn copied(path: &Path, log: &Path, scratch: &Path) -> Result<Copied, StoreError> {
    let io = |e| StoreError::io(scratch.display(), e);
    match std::fs::remove_dir_all(scratch) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(io(e)),
        _ => {}
    }
    paths::create_dir(scratch).map_err(io)?;
    let copied = Copied(scratch.to_owned());
    let to = scratch.join(COPY);
    // The log first: what a checkpoint moves meanwhile is then in both, never in neither.
    for (from, to) in [(log, beside(&to, "-wal")), (path, to)] {
        let mut from = std::fs::File::open(from).map_err(io)?;
        let mut to = paths::create_file(&to).map_err(io)?;
        std::io::copy(&mut from, &mut to).map_err(io)?;
    }
    Ok(copied)
}

fn tables(conn: &Connection) -> Result<Vec<(EarlierTable, Vec<String>)>, StoreError> {
    let mut found = Vec::new();
    for table in EarlierTable::ALL {
        let is_table: bool = conn.query_row(
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1)",
            [table.name()],
            |row| row.get(0),
        )?;
        if is_table {
            let mut columns = conn.prepare("SELECT name FROM pragma_table_info(?1)")?;
            let columns = columns.query_map([table.name()], |row| row.get(0))?;
            found.push((table, columns.collect::<Result<_, _>>()?));
        }
    }
    Ok(found)
}
