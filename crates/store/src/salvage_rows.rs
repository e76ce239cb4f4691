//! Copies the readable rows of a corrupt database into its replacement, when no backup can be used.
//!
//! Works on a copy of the damaged files. If the header or the list of tables is damaged, they are taken from
//! an empty database of the same schema: the tables' pages are where they were created.

use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::{RowId, RowKind, Store, StoreError, StoreWriter};
use claude_mem_core::paths::{self, with_suffix};

/// Rows copied in one transaction.
const COPY_BATCH_ROWS: usize = 256;

/// Steps in the search for the next readable id: up to a billion ids behind an unreadable one.
const ID_STEPS_MAX: u32 = 30;

/// The tables that are copied, parents before children, with the primary key by which they are read from both
/// ends. The queue, ignored sessions and tombstones are salvaged one by one (`salvage.rs`).
const TABLES: [(&str, &[&str]); 19] = [
    ("projects", &["id"]),
    ("project_aliases", &["key"]),
    ("import_runs", &["id"]),
    ("sdk_sessions", &["id"]),
    ("user_prompts", &["id"]),
    ("final_messages", &["id"]),
    ("observations", &["id"]),
    ("session_summaries", &["id"]),
    ("session_claims", &["id"]),
    ("session_accounts", &["id"]),
    ("open_items", &["id"]),
    ("observation_sources", &["observation_id", "session_id"]),
    ("observation_claims", &["session_id", "claim"]),
    ("row_successors", &["kind", "old_id"]),
    ("session_files", &["session_id", "path"]),
    ("review_decisions", &["observation_id", "reason", "other_id"]),
    ("observation_feedback", &["id"]),
    ("transcript_positions", &["path"]),
    ("spend", &["id"]),
];

/// Tables without row ids whose rows need a row of another table: table, column, the other table.
const DEPENDENT_TABLES: [(&str, &str, &str); 6] = [
    ("project_aliases", "project_id", "projects"),
    ("observation_sources", "observation_id", "observations"),
    ("observation_sources", "session_id", "sdk_sessions"),
    ("observation_claims", "session_id", "sdk_sessions"),
    ("session_files", "session_id", "sdk_sessions"),
    ("review_decisions", "observation_id", "observations"),
];

/// The keys of accepted events, copied after the queue: a queued event is accepted once more.
const SEEN_TABLES: [(&str, &[&str]); 1] = [("events_seen", &["key"])];

/// The rows of a damaged database, as far as they can be read.
#[derive(Debug)]
pub(crate) struct DamagedRows {
    conn: Option<Connection>,
    copy: PathBuf,
}

/// How many rows were copied, and which tables could not be read completely.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CopiedRows {
    pub rows: u64,
    pub incomplete: Vec<String>,
}

impl DamagedRows {
    /// Opens a copy of the damaged database in `scratch`. `template` is an empty database.
    pub(crate) fn open(damaged: &Path, template: &Path, scratch: &Path) -> Result<Self, StoreError> {
        let io = |e| StoreError::io(scratch.display(), e);
        let copy = scratch.join("damaged.db");
        if !damaged.try_exists().map_err(io)? {
            return Ok(Self { conn: None, copy });
        }
        for repair in SchemaRepair::ALL {
            copy_files(damaged, &copy).map_err(io)?;
            repair.apply(&copy, template).map_err(io)?;
            if let Some(conn) = open_readable(&copy) {
                return Ok(Self { conn: Some(conn), copy });
            }
        }
        Ok(Self { conn: None, copy })
    }

    /// The copy, if it can be read.
    pub(crate) fn repaired_copy(&self) -> Option<PathBuf> {
        self.conn.as_ref().map(|_| self.copy.clone())
    }

    /// Copies the memories.
    pub(crate) fn copy_memories(&self, store: &mut Store) -> Result<CopiedRows, StoreError> {
        // Rows refer to later rows and to lost ones, so references are checked at the end.
        store.conn.pragma_update(None, "foreign_keys", false)?;
        let mut copied = self.copy_tables(store, &TABLES)?;
        store.write(|tx| {
            tx.clear_dangling_references()?;
            Ok(())
        })?;
        store.conn.pragma_update(None, "foreign_keys", true)?;
        for kind in RowKind::ALL {
            let ids = row_ids(store, kind)?;
            for some in ids.chunks(COPY_BATCH_ROWS) {
                store.write(|tx| some.iter().try_for_each(|id| tx.reindex_row(RowId::new(kind, *id))))?;
            }
        }
        copied.incomplete.dedup();
        if copied.rows == 0 {
            // Nothing could be read: the number of rows says so, and a list of all tables would not say more.
            copied.incomplete.clear();
        }
        Ok(copied)
    }

    /// Copies the keys of all events that were ever accepted.
    pub(crate) fn copy_seen_events(&self, store: &mut Store) -> Result<CopiedRows, StoreError> {
        self.copy_tables(store, &SEEN_TABLES)
    }

    fn copy_tables(&self, store: &mut Store, tables: &[(&str, &[&str])]) -> Result<CopiedRows, StoreError> {
        let mut copied = CopiedRows::default();
        let Some(conn) = &self.conn else {
            return Ok(copied);
        };
        for (table, key) in tables {
            let columns = store.write(|tx| tx.table_columns(table))?;
            let (rows, is_whole) = read_rows(conn, table, key, &columns);
            let mut lost = !is_whole;
            for some in rows.chunks(COPY_BATCH_ROWS) {
                let inserted = store.write(|tx| tx.insert_salvaged(table, &columns, some))?;
                copied.rows += inserted as u64;
                lost |= inserted < some.len();
            }
            if lost {
                copied.incomplete.push((*table).replace('_', " "));
            }
        }
        Ok(copied)
    }
}

/// The pages that are replaced by those of an empty database, so that the rest can be read.
#[derive(Clone, Copy)]
enum SchemaRepair {
    None,
    /// The 100 bytes of the header.
    Header,
    /// The first page of the list of tables as well.
    FirstPage,
    /// All pages of the list of tables.
    AllPages,
}

impl SchemaRepair {
    const ALL: [Self; 4] = [Self::None, Self::Header, Self::FirstPage, Self::AllPages];

    fn apply(self, copy: &Path, template: &Path) -> std::io::Result<()> {
        const HEADER_BYTES: usize = 100;
        let template = paths::open_file(template)?;
        let mut page = vec![0; HEADER_BYTES];
        template.read_exact_at(&mut page, 0)?;
        let page_bytes = match u16::from_be_bytes([page[16], page[17]]) {
            1 => 65_536,
            bytes => usize::from(bytes),
        };
        let file = std::fs::File::options().write(true).open(copy)?;
        match self {
            Self::None => return Ok(()),
            Self::Header => {}
            Self::FirstPage | Self::AllPages => {
                page.resize(page_bytes, 0);
                template.read_exact_at(&mut page, 0)?;
            }
        }
        if matches!(self, Self::AllPages) {
            for child in child_pages(&page, HEADER_BYTES) {
                let mut below = vec![0; page_bytes];
                let at = u64::from(child.saturating_sub(1)) * page_bytes as u64;
                template.read_exact_at(&mut below, at)?;
                file.write_all_at(&below, at)?;
            }
        }
        let pages = u32::try_from(file.metadata()?.len() / page_bytes as u64).unwrap_or(u32::MAX);
        // The size of the file in pages, and an empty list of free pages.
        page[28..32].copy_from_slice(&pages.to_be_bytes());
        page[32..40].fill(0);
        // The size counts only if these two counters agree.
        let counter = [page[24], page[25], page[26], page[27]];
        page[92..96].copy_from_slice(&counter);
        file.write_all_at(&page, 0)
    }
}

/// The pages below an inner page of a table, whose own header starts at `start`. SQLite's file format: the number
/// of cells at 3, the rightmost page at 8, then the offset of each cell, which starts with its page.
fn child_pages(page: &[u8], start: usize) -> Vec<u32> {
    const INNER_TABLE_PAGE: u8 = 5;
    const HEADER_BYTES: usize = 12;
    let number = |at: usize| {
        let bytes = page.get(at..at + 4)?;
        Some(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    if page.get(start) != Some(&INNER_TABLE_PAGE) {
        return Vec::new();
    }
    let cells = usize::from(u16::from_be_bytes([page[start + 3], page[start + 4]]));
    let cell = |i: usize| {
        let at = start + HEADER_BYTES + 2 * i;
        let offset = page.get(at..at + 2)?;
        number(usize::from(u16::from_be_bytes([offset[0], offset[1]])))
    };
    (0..cells).filter_map(cell).chain(number(start + 8)).collect()
}

fn copy_files(damaged: &Path, copy: &Path) -> std::io::Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        let (from, to) = (with_suffix(damaged, suffix), with_suffix(copy, suffix));
        paths::remove_if_exists(&to)?;
        // The shared-memory file is rebuilt.
        if suffix != "-shm" && from.try_exists()? {
            std::io::copy(&mut paths::open_file(&from)?, &mut paths::create_file(&to)?)?;
        }
    }
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "the functions of `open` refuse a corrupt file")]
fn open_readable(copy: &Path) -> Option<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(copy, flags).ok()?;
    // The list of tables can be read if any of them can be named; whether its rows can be read is another matter.
    let tables = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
    let is_known = tables.is_ok() && conn.prepare("SELECT 1 FROM projects").is_ok();
    is_known.then_some(conn)
}

/// The readable rows, and whether that is all of them. A table with ids is read on behind each unreadable part, others
/// from both ends.
fn read_rows(conn: &Connection, table: &str, key: &[&str], columns: &[String]) -> (Vec<Vec<Value>>, bool) {
    let list = columns.join(", ");
    let key_at: Vec<usize> =
        key.iter().filter_map(|name| columns.iter().position(|column| column == name)).collect();
    if key == ["id"] {
        return read_by_id(conn, table, &list, columns.len());
    }
    let mut found = BTreeMap::new();
    let mut is_whole = false;
    for direction in ["", " DESC"] {
        let order = key.iter().map(|name| format!("{name}{direction}")).collect::<Vec<_>>().join(", ");
        let sql = format!("SELECT {list} FROM {table} NOT INDEXED ORDER BY {order}");
        let read = conn.prepare(&sql).and_then(|mut statement| {
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let values = (0..columns.len()).map(|at| row.get(at)).collect::<Result<Vec<Value>, _>>()?;
                let key: Vec<String> = key_at.iter().map(|at| format!("{:?}", values[*at])).collect();
                found.insert(key, values);
            }
            Ok(())
        });
        is_whole = read.is_ok();
        if is_whole {
            break;
        }
    }
    (found.into_values().collect(), is_whole)
}

/// Reads a table by its ids. Behind an unreadable page it goes on with the first id that can be read again.
fn read_by_id(conn: &Connection, table: &str, list: &str, columns: usize) -> (Vec<Vec<Value>>, bool) {
    let (mut found, mut is_whole, mut from) = (Vec::new(), true, i64::MIN);
    let sql = format!("SELECT id, {list} FROM {table} NOT INDEXED WHERE id >= ?1 ORDER BY id");
    let Ok(mut statement) = conn.prepare(&sql) else {
        return (found, false);
    };
    loop {
        let mut last = None;
        let read = statement.query([from]).and_then(|mut rows| {
            while let Some(row) = rows.next()? {
                let values = (1..=columns).map(|at| row.get(at)).collect::<Result<Vec<Value>, _>>()?;
                last = Some(row.get::<_, i64>(0)?);
                found.push(values);
            }
            Ok(())
        });
        if read.is_ok() {
            return (found, is_whole);
        }
        is_whole = false;
        let unreadable = last.map_or(from.max(0), |last| last.saturating_add(1));
        match next_readable_id(conn, table, unreadable) {
            Some(next) => from = next,
            None => return (found, false),
        }
    }
}

/// The first id above `unreadable` from which on a row can be read: by steps that double, and then by halves.
fn next_readable_id(conn: &Connection, table: &str, unreadable: i64) -> Option<i64> {
    let sql = format!("SELECT id FROM {table} NOT INDEXED WHERE id >= ?1 ORDER BY id LIMIT 1");
    let mut first_from = conn.prepare(&sql).ok()?;
    let mut first_from = |id: i64| first_from.query_row([id], |row| row.get::<_, i64>(0));
    let (mut bad, mut good) = (unreadable, None);
    for step in 0..ID_STEPS_MAX {
        let id = unreadable.saturating_add(1 << step);
        match first_from(id) {
            // Without a row nothing is left behind it.
            Ok(_) | Err(rusqlite::Error::QueryReturnedNoRows) => {
                good = Some(id);
                break;
            }
            Err(_) => bad = id,
        }
    }
    let mut good = good?;
    while good - bad > 1 {
        let middle = bad + (good - bad) / 2;
        match first_from(middle) {
            Ok(_) | Err(rusqlite::Error::QueryReturnedNoRows) => good = middle,
            Err(_) => bad = middle,
        }
    }
    first_from(good).ok()
}

fn row_ids(store: &mut Store, kind: RowKind) -> Result<Vec<i64>, StoreError> {
    store.write(|tx| {
        let mut statement = tx.tx.prepare(&format!("SELECT id FROM {} ORDER BY id", kind.table()))?;
        let ids = statement.query_map([], |row| row.get(0))?;
        Ok(ids.collect::<Result<_, _>>()?)
    })
}

impl StoreWriter<'_> {
    fn table_columns(&self, table: &str) -> Result<Vec<String>, StoreError> {
        // Generated columns cannot be inserted.
        let mut columns = self.tx.prepare("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0")?;
        let names = columns.query_map([table], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    /// Clears references to rows that were lost; a row that needs one is removed.
    fn clear_dangling_references(&self) -> Result<(), StoreError> {
        let mut check = self.tx.prepare(
            "SELECT v.\"table\", v.rowid, l.\"from\" FROM pragma_foreign_key_check AS v
             JOIN pragma_foreign_key_list(v.\"table\") AS l ON l.id = v.fkid WHERE v.rowid IS NOT NULL",
        )?;
        let found = check.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        for (table, id, column) in found.collect::<Result<Vec<(String, i64, String)>, _>>()? {
            let clear = format!("UPDATE {table} SET {column} = NULL WHERE rowid = ?1");
            if self.tx.execute(&clear, [id]).is_err() {
                self.tx.execute(&format!("DELETE FROM {table} WHERE rowid = ?1"), [id])?;
            }
        }
        for (table, column, other) in DEPENDENT_TABLES {
            let orphans = format!("DELETE FROM {table} WHERE {column} NOT IN (SELECT id FROM {other})");
            self.tx.execute(&orphans, [])?;
        }
        Ok(())
    }

    /// Inserts rows; one that violates a constraint, such as a lost session, is left out.
    fn insert_salvaged(
        &self,
        table: &str,
        columns: &[String],
        rows: &[Vec<Value>],
    ) -> Result<usize, StoreError> {
        let marks = vec!["?"; columns.len()].join(", ");
        let sql = format!("INSERT OR IGNORE INTO {table} ({}) VALUES ({marks})", columns.join(", "));
        let mut insert = self.tx.prepare_cached(&sql)?;
        let mut inserted = 0;
        for row in rows {
            match insert.execute(params_from_iter(row)).map_err(StoreError::from) {
                Ok(count) => inserted += count,
                Err(StoreError::DiskFull) => return Err(StoreError::DiskFull),
                // Constraints of damaged values, such as a text in place of a number.
                Err(_) => {}
            }
        }
        Ok(inserted)
    }
}

#[cfg(test)]
#[path = "salvage_rows_tests.rs"]
mod tests;
