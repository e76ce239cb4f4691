//! [`Store`]: the database as the worker and the commands use it.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::backup::{self, BackupReport};
use crate::error::StoreError;
use crate::fts_batch::DeferredFtsWrites;
use crate::reader::StoreReader;
use crate::replace_lock::SharedLock;
use crate::writer::{self, StoreWriter};
use crate::{migrate, open, schema, swap};

/// Pages of the write-ahead log (16 MB) between two checkpoints during bulk writes.
const BULK_LOG_PAGES: u32 = 4_096;

/// Percentage of free pages below which a vacuum is not worthwhile.
const VACUUM_PERCENT_MIN: u64 = 25;

/// Bytes of free pages below which a vacuum is not worthwhile.
const VACUUM_BYTES_MIN: u64 = 16 << 20;

/// The database, as the worker and the commands use it.
#[derive(Debug)]
pub struct Store {
    pub(crate) conn: Connection,
    path: PathBuf,
    /// `Some` for a writable store. Released after the connection is closed.
    _lock: Option<SharedLock>,
}

impl Store {
    /// Opens for reading and writing. Creates a missing database; migrates an older one after a
    /// backup.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let pass = SharedLock::acquire(path)?;
        if swap::is_swap_pending(path) {
            drop(pass);
            swap::finish_pending_swap(path)?;
            return Self::open(path);
        }
        let mut conn = open::open_writer(path)?;
        migrate::migrate_to_latest(&mut conn, path)?;
        Ok(Self { conn, path: path.to_owned(), _lock: Some(pass) })
    }

    /// Opens for reading only. Never creates or migrates. `Busy`: the database is being replaced.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        if swap::is_swap_pending(path) {
            return Err(StoreError::Busy);
        }
        let conn = open::open_reader(path)?;
        schema::check_version(&conn)?;
        Ok(Self { conn, path: path.to_owned(), _lock: None })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn read(&self) -> StoreReader<'_> {
        StoreReader(&self.conn)
    }

    /// Runs `look` in one read transaction, so that all its queries see the same snapshot.
    pub fn read_snapshot<T>(
        &self,
        look: impl FnOnce(&StoreReader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let tx = self.conn.unchecked_transaction()?;
        let seen = look(&StoreReader(&tx))?;
        tx.commit()?;
        Ok(seen)
    }

    /// Runs `change` as one transaction: it is committed as a whole or not at all.
    pub fn write<T>(
        &mut self,
        change: impl FnOnce(&StoreWriter<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        writer::write(&mut self.conn, change)
    }

    /// Like `write`, for many new rows: their documents are inserted into the full-text index
    /// together at the end, because FTS5 flushes its pending data at every statement in between.
    /// Until then, full-text queries inside `change` do not find the new rows.
    pub fn write_batch<T>(
        &mut self,
        change: impl FnOnce(&StoreWriter<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        writer::write_with(&mut self.conn, DeferredFtsWrites::deferred(), change)
    }

    /// Copies the database, verifies the copy and only then renames it to `to`.
    pub fn back_up(&self, to: &Path) -> Result<BackupReport, StoreError> {
        backup::copy_verified(&self.conn, to)
    }

    /// Raises the WAL auto-checkpoint threshold for the lifetime of this store, for bulk writes.
    pub fn defer_checkpoints(&self) -> Result<(), StoreError> {
        Ok(self.conn.pragma_update(None, "wal_autocheckpoint", BULK_LOG_PAGES)?)
    }

    /// Checkpoints and truncates the write-ahead log. Returns false if a reader prevented it. Cheap
    /// when there is nothing to do.
    pub fn checkpoint(&self) -> Result<bool, StoreError> {
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let is_busy: bool = self.conn.query_row(sql, [], |row| row.get(0))?;
        Ok(!is_busy)
    }

    /// Checkpoints the write-ahead log, so that all data is in one file, and closes.
    pub fn close(self) -> Result<(), StoreError> {
        self.checkpoint()?;
        self.conn.close().map_err(|(_, e)| e.into())
    }

    /// The problems that `PRAGMA integrity_check` finds; empty if the file is sound.
    pub fn integrity_problems(&self) -> Result<Vec<String>, StoreError> {
        let mut check = self.conn.prepare("PRAGMA integrity_check(20)")?;
        let found = check.query_map([], |row| row.get::<_, String>(0))?;
        let found = found.collect::<Result<Vec<_>, _>>()?;
        Ok(found.into_iter().filter(|line| line != "ok").collect())
    }

    /// Runs `PRAGMA quick_check`: reads every page, but does not compare indexes with tables.
    /// `Corrupt`: it found a problem.
    pub fn quick_check(&self) -> Result<(), StoreError> {
        let verdict: String = self.conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        match verdict.as_str() {
            "ok" => Ok(()),
            _ => Err(StoreError::Corrupt),
        }
    }

    /// Whether enough pages are unused to make a `VACUUM` worthwhile.
    pub fn needs_vacuum(&self) -> Result<bool, StoreError> {
        let number = |sql: &str| self.conn.query_row(sql, [], |row| row.get::<_, u64>(0));
        let (free, pages) = (number("PRAGMA freelist_count")?, number("PRAGMA page_count")?);
        let bytes = free * number("PRAGMA page_size")?;
        Ok(bytes >= VACUUM_BYTES_MIN && free * 100 >= pages * VACUUM_PERCENT_MIN)
    }

    /// Runs `VACUUM`, which returns unused pages to the file system.
    pub fn vacuum(&self) -> Result<(), StoreError> {
        Ok(self.conn.execute_batch("VACUUM")?)
    }
}
