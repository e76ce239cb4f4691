//! `vectors.db`: the embeddings of rows. It can be deleted at any time and is rebuilt.
//!
//! [`VectorStore`] holds, for each row, its vectors and their binary signature. Invariant: every
//! entry names the text and the model it was made from, and readers compare. Nothing is stored only
//! here.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use super::open;
use super::{NO_PROJECT, RowId, RowKind, StoreError};
use crate::columns::{ReadColumn, SqlColumn};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ProjectId, PublicId};
use claude_mem_core::paths::{remove_if_exists, with_suffix};

/// SQLite's `application_id` at byte 68 of each vectors file ("cmvx").
const APPLICATION_ID: i32 = 0x636d_7678;
/// A file with another version is rebuilt.
const VERSION: u32 = 1;
/// Memory-mapped part of the file; the rest is read page by page.
const MAPPED_BYTES_MAX: i64 = 1 << 30;

/// All vectors of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowVectors {
    pub kind: RowKind,
    pub row_id: i64,
    pub project: Option<ProjectId>,
    pub created_at: Millis,
    pub text_hash: i64,
    /// The vector of the whole text, then of its passages, as `search::vectors` packs them.
    pub parts: Vec<u8>,
    /// The binary signature of the same vectors: one sign bit per dimension.
    pub bits: Vec<u8>,
}

/// The binary signature of one row, borrowed while the file is read.
#[derive(Clone, Copy, Debug)]
pub struct StoredSignature<'a> {
    pub id: i64,
    pub kind: RowKind,
    pub row_id: i64,
    pub project: Option<ProjectId>,
    pub created_at: Millis,
    pub bits: &'a [u8],
}

/// The text and project that a row's vectors were made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorSource {
    pub text_hash: i64,
    pub project: Option<ProjectId>,
}

/// The file, opened for one model. Entries of other models are ignored.
#[derive(Debug)]
pub struct VectorStore {
    conn: Connection,
    path: PathBuf,
    model: i64,
    replaced: Option<String>,
}

impl VectorStore {
    /// Opens for writing. A corrupt file, or one of another version, is replaced: it only costs
    /// time. A foreign file is left alone.
    pub fn open(path: &Path, model: &str) -> Result<Self, StoreError> {
        match Self::try_open(path, model) {
            Err(why @ (StoreError::Corrupt | StoreError::Older { .. } | StoreError::Newer { .. })) => {
                remove_files(path)?;
                let mut opened = Self::try_open(path, model)?;
                opened.replaced = Some(why.to_string());
                Ok(opened)
            }
            opened => opened,
        }
    }

    fn try_open(path: &Path, model: &str) -> Result<Self, StoreError> {
        if !path.exists() {
            // A write-ahead log that outlived its file would be replayed into the new one.
            remove_files(path)?;
        }
        open::create_if_missing(path, APPLICATION_ID, create)?;
        let conn = open::open_rebuildable(path, true)?;
        check_version(&conn)?;
        conn.execute("INSERT INTO models (name) VALUES (?1) ON CONFLICT DO NOTHING", [model])?;
        Self::for_model(conn, path, model)
    }

    /// Opens for reading only. `Missing`: there is no file, or it has no entries for this model.
    pub fn open_read_only(path: &Path, model: &str) -> Result<Self, StoreError> {
        open::check_application_id(path, APPLICATION_ID)?;
        let conn = open::open_rebuildable(path, false)?;
        // Read from the memory map, without copying pages. Nothing shrinks this file while it is
        // read.
        conn.pragma_update(None, "mmap_size", MAPPED_BYTES_MAX)?;
        check_version(&conn)?;
        Self::for_model(conn, path, model)
    }

    fn for_model(conn: Connection, path: &Path, model: &str) -> Result<Self, StoreError> {
        let model = conn
            .query_row("SELECT id FROM models WHERE name = ?1", [model], |row| row.get(0))
            .optional()?
            .ok_or(StoreError::Missing)?;
        Ok(Self { conn, path: path.to_owned(), model, replaced: None })
    }

    /// Why the previous file was replaced, if it was: all vectors must be made again.
    pub fn replaced_reason(&self) -> Option<&str> {
        self.replaced.as_deref()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Unique per created file, so that a rebuilt file differs from the one that was filled.
    pub fn uid(&self) -> Result<String, StoreError> {
        Ok(self.conn.query_row("SELECT value FROM meta WHERE key = 'uid'", [], |row| row.get(0))?)
    }

    /// How many rows have vectors of this model.
    pub fn row_count(&self) -> Result<u64, StoreError> {
        Ok(self
            .conn
            .query_row("SELECT count(*) FROM vectors WHERE model = ?1", [self.model], |row| row.get(0))?)
    }

    /// The text hash and the project from which a row's vectors were computed.
    pub fn vector_source(&self, RowId { kind, row_id }: RowId) -> Result<Option<VectorSource>, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT text_hash, project_id FROM vectors WHERE kind = ?1 AND row_id = ?2 AND model = ?3",
            )?
            .query_row(params![kind_code(kind), row_id, self.model], |row| {
                Ok(VectorSource { text_hash: row.get(0)?, project: project_at(row, 1)? })
            })
            .optional()?)
    }

    /// Calls `take` for every entry; the source is `None` for entries of other models.
    pub fn for_each_entry(
        &self,
        mut take: impl FnMut(RowId, Option<VectorSource>),
    ) -> Result<(), StoreError> {
        let mut statement =
            self.conn.prepare("SELECT kind, row_id, model, text_hash, project_id FROM vectors")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let ours = row.get::<_, i64>(2)? == self.model;
            let made = VectorSource { text_hash: row.get(3)?, project: project_at(row, 4)? };
            take(RowId::new(kind_at(row, 0)?, row.get(1)?), ours.then_some(made));
        }
        Ok(())
    }

    /// Calls `take` for each signature of one project, or of all, with an id above `after`.
    pub fn scan_signatures(
        &self,
        scope: Option<ProjectId>,
        after: i64,
        mut take: impl FnMut(StoredSignature<'_>),
    ) -> Result<(), StoreError> {
        const COLUMNS: &str = "SELECT id, kind, row_id, project_id, created_at_epoch, bits FROM signatures";
        let (sql, at) = match scope {
            Some(_) => {
                (format!("{COLUMNS} WHERE project_id = ?1 AND id > ?2 AND model = ?3"), project_key(scope))
            }
            None if after == 0 => (format!("{COLUMNS} WHERE ?1 = 0 AND ?2 = 0 AND model = ?3"), 0),
            None => {
                (format!("{COLUMNS} INDEXED BY signatures_by_id WHERE ?1 = 0 AND id > ?2 AND model = ?3"), 0)
            }
        };
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut rows = statement.query(params![at, after, self.model])?;
        while let Some(row) = rows.next()? {
            take(StoredSignature {
                id: row.get(0)?,
                kind: kind_at(row, 1)?,
                row_id: row.get(2)?,
                project: project_at(row, 3)?,
                created_at: row.column(4)?,
                bits: row.get_ref(5)?.as_blob().map_err(rusqlite::Error::from)?,
            });
        }
        Ok(())
    }

    /// Calls `take` with the id, text hash and vectors of each entry; missing ids are skipped.
    pub fn read_vectors(&self, ids: &[i64], mut take: impl FnMut(i64, i64, &[u8])) -> Result<(), StoreError> {
        let mut by_id = self.conn.prepare_cached("SELECT text_hash, parts FROM vectors WHERE id = ?1")?;
        for &id in ids {
            let mut rows = by_id.query([id])?;
            if let Some(row) = rows.next()? {
                let parts = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
                take(id, row.get(0)?, parts);
            }
        }
        Ok(())
    }

    /// Calls `take` with the text hash and vectors of one row, if it has an entry.
    pub fn read_row_vectors(
        &self,
        RowId { kind, row_id }: RowId,
        take: impl FnOnce(i64, &[u8]),
    ) -> Result<(), StoreError> {
        let mut by_row = self.conn.prepare_cached(
            "SELECT text_hash, parts FROM vectors WHERE kind = ?1 AND row_id = ?2 AND model = ?3",
        )?;
        let mut rows = by_row.query(params![kind_code(kind), row_id, self.model])?;
        if let Some(row) = rows.next()? {
            let parts = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            take(row.get(0)?, parts);
        }
        Ok(())
    }

    /// The highest entry id: it grows when entries are added.
    pub fn newest_id(&self) -> Result<i64, StoreError> {
        Ok(self
            .conn
            .prepare_cached("SELECT coalesce(max(id), 0) FROM vectors")?
            .query_row([], |row| row.get(0))?)
    }

    /// Replaces the entries of `put` and deletes those of `remove`, in one transaction.
    pub fn apply_changes(&mut self, put: &[RowVectors], remove: &[RowId]) -> Result<(), StoreError> {
        let model = self.model;
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut delete = tx.prepare_cached(
                "DELETE FROM vectors WHERE kind = ?1 AND row_id = ?2 RETURNING id, project_id",
            )?;
            let mut unsign = tx.prepare_cached("DELETE FROM signatures WHERE project_id = ?2 AND id = ?1")?;
            let old = put.iter().map(|row| RowId::new(row.kind, row.row_id));
            for RowId { kind, row_id } in old.chain(remove.iter().copied()) {
                let gone: Option<(i64, i64)> = delete
                    .query_row(params![kind_code(kind), row_id], |row| Ok((row.get(0)?, row.get(1)?)))
                    .optional()?;
                if let Some((id, project)) = gone {
                    unsign.execute([id, project])?;
                }
            }
            let mut insert = tx.prepare_cached(
                "INSERT INTO vectors (kind, row_id, project_id, created_at_epoch, text_hash, model, parts)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            let mut sign = tx.prepare_cached(
                "INSERT INTO signatures (project_id, id, kind, row_id, created_at_epoch, model, bits)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            for row in put {
                let (kind, project, at) =
                    (kind_code(row.kind), project_key(row.project), row.created_at.sql());
                insert.execute(params![kind, row.row_id, project, at, row.text_hash, model, row.parts])?;
                let id = tx.last_insert_rowid();
                sign.execute(params![project, id, kind, row.row_id, at, model, row.bits])?;
            }
        }
        Ok(tx.commit()?)
    }

    /// The whole entry of a row, to copy it.
    pub fn entry(&self, RowId { kind, row_id }: RowId) -> Result<Option<RowVectors>, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT v.project_id, v.created_at_epoch, v.text_hash, v.parts, s.bits
                 FROM vectors AS v JOIN signatures AS s ON s.project_id = v.project_id AND s.id = v.id
                 WHERE v.kind = ?1 AND v.row_id = ?2 AND v.model = ?3",
            )?
            .query_row(params![kind_code(kind), row_id, self.model], |row| {
                Ok(RowVectors {
                    kind,
                    row_id,
                    project: project_at(row, 0)?,
                    created_at: row.column(1)?,
                    text_hash: row.get(2)?,
                    parts: row.get(3)?,
                    bits: row.get(4)?,
                })
            })
            .optional()?)
    }

    /// Deletes all entries. The file stays, so that readers do not hold a deleted one.
    pub fn clear(&mut self) -> Result<(), StoreError> {
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        tx.execute_batch("DELETE FROM signatures; DELETE FROM vectors;")?;
        Ok(tx.commit()?)
    }

    /// Checkpoints and truncates the write-ahead log.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        Ok(self.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
    }
}

fn create(conn: &mut Connection) -> Result<(), StoreError> {
    // The vectors of one row fit into one page, and a page holds many signatures.
    conn.pragma_update(None, "page_size", 16_384)?;
    conn.execute_batch(include_str!("migrations/vectors.sql"))?;
    conn.execute("INSERT INTO meta (key, value) VALUES ('uid', ?1)", [PublicId::new().sql()])?;
    Ok(conn.pragma_update(None, "user_version", VERSION)?)
}

fn check_version(conn: &Connection) -> Result<(), StoreError> {
    let known = VERSION;
    match conn.query_row("PRAGMA user_version", [], |row| row.get(0))? {
        found if found > known => Err(StoreError::Newer { found, known }),
        found if found < known => Err(StoreError::Older { found, known }),
        _ => Ok(()),
    }
}

fn remove_files(path: &Path) -> Result<(), StoreError> {
    for end in ["", "-wal", "-shm"] {
        remove_if_exists(&with_suffix(path, end)).map_err(|e| StoreError::io(path.display(), e))?;
    }
    Ok(())
}

/// Kinds are small integers here, because every signature stores one.
fn kind_code(kind: RowKind) -> u8 {
    match kind {
        RowKind::Observation => 0,
        RowKind::Summary => 1,
        RowKind::Prompt => 2,
        RowKind::Message => 3,
        RowKind::Account => 4,
    }
}

fn kind_at(row: &Row<'_>, at: usize) -> rusqlite::Result<RowKind> {
    let number: i64 = row.get(at)?;
    RowKind::ALL
        .into_iter()
        .find(|&kind| i64::from(self::kind_code(kind)) == number)
        .ok_or(rusqlite::Error::IntegralValueOutOfRange(at, number))
}

fn project_key(project: Option<ProjectId>) -> i64 {
    project.unwrap_or(NO_PROJECT).0
}

fn project_at(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<ProjectId>> {
    Ok(Some(row.get::<_, i64>(at)?).filter(|&id| id != 0).map(ProjectId))
}

#[cfg(test)]
#[path = "vectors_tests.rs"]
mod tests;
