//! Copies the readable rows of a corrupt database into its replacement, when no backup can be used.
//!
//! Works on a copy of the damaged files. If the header or the first page is damaged, they are taken from
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

/// The tables that are copied, parents before children, with the column by which they are read from both
/// ends. The queue, ignored sessions and tombstones are salvaged one by one (`salvage.rs`).
const TABLES: [(&str, &str); 10] = [
    ("projects", "id"),
    ("project_aliases", "key"),
    ("import_runs", "id"),
    ("sdk_sessions", "id"),
    ("user_prompts", "id"),
    ("final_messages", "id"),
    ("observations", "id"),
    ("session_summaries", "id"),
    ("transcript_positions", "path"),
    ("spend", "id"),
];

/// The keys of accepted events, copied after the queue: a queued event is accepted once more.
const SEEN_TABLES: [(&str, &str); 1] = [("events_seen", "key")];

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
        for repair in [FirstPageRepair::None, FirstPageRepair::Header, FirstPageRepair::Page] {
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
        Ok(copied)
    }

    /// Copies the keys of all events that were ever accepted.
    pub(crate) fn copy_seen_events(&self, store: &mut Store) -> Result<CopiedRows, StoreError> {
        self.copy_tables(store, &SEEN_TABLES)
    }

    fn copy_tables(&self, store: &mut Store, tables: &[(&str, &str)]) -> Result<CopiedRows, StoreError> {
        let mut copied = CopiedRows::default();
        let Some(conn) = &self.conn else {
            return Ok(copied);
        };
        for (table, order) in tables {
            let columns = store.write(|tx| tx.table_columns(table))?;
            let (rows, is_whole) = read_rows(conn, table, order, &columns);
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

/// What of the first page is taken from an empty database.
#[derive(Clone, Copy)]
enum FirstPageRepair {
    None,
    /// The 100 bytes of the header.
    Header,
    /// The list of tables as well.
    Page,
}

impl FirstPageRepair {
    fn apply(self, copy: &Path, template: &Path) -> std::io::Result<()> {
        const HEADER_BYTES: usize = 100;
        let template = paths::open_file(template)?;
        let mut page = vec![0; HEADER_BYTES];
        template.read_exact_at(&mut page, 0)?;
        let page_bytes = match u16::from_be_bytes([page[16], page[17]]) {
            1 => 65_536,
            bytes => usize::from(bytes),
        };
        match self {
            Self::None => return Ok(()),
            Self::Header => {}
            Self::Page => {
                page.resize(page_bytes, 0);
                template.read_exact_at(&mut page, 0)?;
            }
        }
        let file = std::fs::File::options().write(true).open(copy)?;
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
    let first =
        conn.query_row("SELECT count(*) FROM (SELECT 1 FROM projects NOT INDEXED LIMIT 1)", [], |row| {
            row.get::<_, i64>(0)
        });
    first.is_ok().then_some(conn)
}

/// The readable rows, from both ends of the table, and whether that is all of them.
fn read_rows(conn: &Connection, table: &str, order: &str, columns: &[String]) -> (Vec<Vec<Value>>, bool) {
    let list = columns.join(", ");
    let mut found = BTreeMap::new();
    let mut is_whole = false;
    for direction in ["", " DESC"] {
        let sql = format!("SELECT {order}, {list} FROM {table} NOT INDEXED ORDER BY {order}{direction}");
        let read = conn.prepare(&sql).and_then(|mut statement| {
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let key = format!("{:?}", row.get::<_, Value>(0)?);
                let values =
                    (0..columns.len()).map(|at| row.get(at + 1)).collect::<Result<Vec<Value>, _>>()?;
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
        // Aliases have no row ids.
        self.tx
            .execute("DELETE FROM project_aliases WHERE project_id NOT IN (SELECT id FROM projects)", [])?;
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
