//! `vectors.db`: what texts mean, as numbers. It may be deleted at any time and is made again.
//!
//! Invariant: every entry says which text and which model it was made from; whoever reads one
//! compares. Nothing here can be found only here.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use super::open;
use super::{RowKind, StoreError};
use crate::clock::Millis;
use crate::ids::{ProjectId, PublicId};

/// Stands at byte 68 of every vectors file of ours ("cmvx").
const APPLICATION_ID: i32 = 0x636d_7678;
/// A file of another version is made anew.
const VERSION: u32 = 1;
/// More than this is read page by page.
const MAPPED_BYTES_MAX: i64 = 1 << 30;

/// All vectors of one row of memory, as they are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct RowVectors {
    pub kind: RowKind,
    pub row_id: i64,
    pub project: Option<ProjectId>,
    pub created_at: Millis,
    pub text_hash: i64,
    /// The whole text's vector, then its parts', as `search::vectors` packs them.
    pub parts: Vec<u8>,
    /// The signs of the same, a bit per number.
    pub bits: Vec<u8>,
}

/// The signs of one row's vectors, lent while the file is read.
#[derive(Clone, Copy, Debug)]
pub struct Signature<'a> {
    pub id: i64,
    pub kind: RowKind,
    pub row_id: i64,
    pub project: Option<ProjectId>,
    pub created_at: Millis,
    pub bits: &'a [u8],
}

/// What a row's vectors were made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MadeFrom {
    pub text_hash: i64,
    pub project: Option<ProjectId>,
}

/// The file, opened for one model: entries of other models are as good as absent.
#[derive(Debug)]
pub struct VectorStore {
    conn: Connection,
    path: PathBuf,
    model: i64,
    replaced: Option<String>,
}

impl VectorStore {
    /// Opens for writing. A file that is damaged or of another version is replaced: nothing is
    /// lost with it but time. One that is not ours is left alone.
    pub fn open(path: &Path, model: &str) -> Result<Self, StoreError> {
        match Self::open_as_is(path, model) {
            Err(
                why @ (StoreError::Damaged | StoreError::Older { .. } | StoreError::Newer { .. }),
            ) => {
                remove(path)?;
                let mut opened = Self::open_as_is(path, model)?;
                opened.replaced = Some(why.to_string());
                Ok(opened)
            }
            opened => opened,
        }
    }

    fn open_as_is(path: &Path, model: &str) -> Result<Self, StoreError> {
        if !path.exists() {
            // A log that outlived its file would be replayed into the new one.
            remove(path)?;
        }
        open::create_if_missing(path, APPLICATION_ID, create)?;
        let conn = open::rebuildable(path, true)?;
        check_version(&conn)?;
        conn.execute(
            "INSERT INTO models (name) VALUES (?1) ON CONFLICT DO NOTHING",
            [model],
        )?;
        Self::with(conn, path, model)
    }

    /// Opens for reading only; `Missing` where there is no file, or none of this model yet.
    pub fn open_read_only(path: &Path, model: &str) -> Result<Self, StoreError> {
        open::refuse_other_than(path, APPLICATION_ID)?;
        let conn = open::rebuildable(path, false)?;
        // Vectors are read where they lie, without a copy of each page. Nothing ever makes this
        // file smaller under its readers.
        conn.pragma_update(None, "mmap_size", MAPPED_BYTES_MAX)?;
        check_version(&conn)?;
        Self::with(conn, path, model)
    }

    fn with(conn: Connection, path: &Path, model: &str) -> Result<Self, StoreError> {
        let model = conn
            .query_row("SELECT id FROM models WHERE name = ?1", [model], |row| {
                row.get(0)
            })
            .optional()?
            .ok_or(StoreError::Missing)?;
        Ok(Self {
            conn,
            path: path.to_owned(),
            model,
            replaced: None,
        })
    }

    /// Why the file that was there was made anew, if it was: all vectors are to come again.
    pub fn replaced(&self) -> Option<&str> {
        self.replaced.as_deref()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Differs for every file that was ever made: who has filled one can tell it from a new one.
    pub fn uid(&self) -> Result<String, StoreError> {
        Ok(self
            .conn
            .query_row("SELECT value FROM meta WHERE key = 'uid'", [], |row| {
                row.get(0)
            })?)
    }

    /// Rows that have vectors of this model.
    pub fn count(&self) -> Result<u64, StoreError> {
        Ok(self.conn.query_row(
            "SELECT count(*) FROM vectors WHERE model = ?1",
            [self.model],
            |row| row.get(0),
        )?)
    }

    pub fn made_from(&self, kind: RowKind, row_id: i64) -> Result<Option<MadeFrom>, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT text_hash, project_id FROM vectors WHERE kind = ?1 AND row_id = ?2 AND model = ?3",
            )?
            .query_row(params![number(kind), row_id, self.model], |row| {
                Ok(MadeFrom {
                    text_hash: row.get(0)?,
                    project: project(row, 1)?,
                })
            })
            .optional()?)
    }

    /// What every entry was made from; entries of other models among them, with no hash.
    pub fn each(
        &self,
        mut take: impl FnMut(RowKind, i64, Option<MadeFrom>),
    ) -> Result<(), StoreError> {
        let mut rows = self
            .conn
            .prepare("SELECT kind, row_id, model, text_hash, project_id FROM vectors")?;
        let mut rows = rows.query([])?;
        while let Some(row) = rows.next()? {
            let ours = row.get::<_, i64>(2)? == self.model;
            let made = MadeFrom {
                text_hash: row.get(3)?,
                project: project(row, 4)?,
            };
            take(kind(row, 0)?, row.get(1)?, ours.then_some(made));
        }
        Ok(())
    }

    /// Looks through the signatures of one project, or of all, that came after `after`.
    pub fn signatures(
        &self,
        scope: Option<ProjectId>,
        after: i64,
        mut take: impl FnMut(Signature<'_>),
    ) -> Result<(), StoreError> {
        const COLUMNS: &str =
            "SELECT id, kind, row_id, project_id, created_at_epoch, bits FROM signatures";
        let (sql, at) = match scope {
            Some(_) => (
                format!("{COLUMNS} WHERE project_id = ?1 AND id > ?2 AND model = ?3"),
                key(scope),
            ),
            None if after == 0 => (
                format!("{COLUMNS} WHERE ?1 = 0 AND ?2 = 0 AND model = ?3"),
                0,
            ),
            None => (
                format!(
                    "{COLUMNS} INDEXED BY signatures_by_id WHERE ?1 = 0 AND id > ?2 AND model = ?3"
                ),
                0,
            ),
        };
        let mut rows = self.conn.prepare_cached(&sql)?;
        let mut rows = rows.query(params![at, after, self.model])?;
        while let Some(row) = rows.next()? {
            take(Signature {
                id: row.get(0)?,
                kind: kind(row, 1)?,
                row_id: row.get(2)?,
                project: project(row, 3)?,
                created_at: row.get(4)?,
                bits: row.get_ref(5)?.as_blob().map_err(rusqlite::Error::from)?,
            });
        }
        Ok(())
    }

    /// Lends each of these rows' vectors with the hash of their text; ids that are gone are
    /// passed over.
    pub fn vectors(
        &self,
        ids: &[i64],
        mut take: impl FnMut(i64, i64, &[u8]),
    ) -> Result<(), StoreError> {
        let mut by_id = self
            .conn
            .prepare_cached("SELECT text_hash, parts FROM vectors WHERE id = ?1")?;
        for &id in ids {
            let mut rows = by_id.query([id])?;
            if let Some(row) = rows.next()? {
                let parts = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
                take(id, row.get(0)?, parts);
            }
        }
        Ok(())
    }

    /// Lends one row's vectors with the hash of their text.
    pub fn vectors_of(
        &self,
        kind: RowKind,
        row_id: i64,
        take: impl FnOnce(i64, &[u8]),
    ) -> Result<(), StoreError> {
        let mut by_row = self.conn.prepare_cached(
            "SELECT text_hash, parts FROM vectors WHERE kind = ?1 AND row_id = ?2 AND model = ?3",
        )?;
        let mut rows = by_row.query(params![number(kind), row_id, self.model])?;
        if let Some(row) = rows.next()? {
            let parts = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            take(row.get(0)?, parts);
        }
        Ok(())
    }

    /// The newest entry's id: a larger one than last time means that there is something new.
    pub fn newest(&self) -> Result<i64, StoreError> {
        Ok(self
            .conn
            .prepare_cached("SELECT coalesce(max(id), 0) FROM vectors")?
            .query_row([], |row| row.get(0))?)
    }

    /// Puts these in and takes those out, all or nothing.
    pub fn change(
        &mut self,
        put: &[RowVectors],
        remove: &[(RowKind, i64)],
    ) -> Result<(), StoreError> {
        let model = self.model;
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut delete = tx.prepare_cached(
                "DELETE FROM vectors WHERE kind = ?1 AND row_id = ?2 RETURNING id, project_id",
            )?;
            let mut unsign =
                tx.prepare_cached("DELETE FROM signatures WHERE project_id = ?2 AND id = ?1")?;
            let old = put.iter().map(|row| (row.kind, row.row_id));
            for (kind, row_id) in old.chain(remove.iter().copied()) {
                let gone: Option<(i64, i64)> = delete
                    .query_row(params![number(kind), row_id], |row| {
                        Ok((row.get(0)?, row.get(1)?))
                    })
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
                let (kind, project, at) = (number(row.kind), key(row.project), row.created_at);
                insert.execute(params![
                    kind,
                    row.row_id,
                    project,
                    at,
                    row.text_hash,
                    model,
                    row.parts
                ])?;
                let id = tx.last_insert_rowid();
                sign.execute(params![project, id, kind, row.row_id, at, model, row.bits])?;
            }
        }
        Ok(tx.commit()?)
    }

    /// A row's entry as it stands, to be put elsewhere.
    pub fn entry(&self, kind: RowKind, row_id: i64) -> Result<Option<RowVectors>, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT v.project_id, v.created_at_epoch, v.text_hash, v.parts, s.bits
                 FROM vectors AS v JOIN signatures AS s ON s.project_id = v.project_id AND s.id = v.id
                 WHERE v.kind = ?1 AND v.row_id = ?2 AND v.model = ?3",
            )?
            .query_row(params![number(kind), row_id, self.model], |row| {
                Ok(RowVectors {
                    kind,
                    row_id,
                    project: project(row, 0)?,
                    created_at: row.get(1)?,
                    text_hash: row.get(2)?,
                    parts: row.get(3)?,
                    bits: row.get(4)?,
                })
            })
            .optional()?)
    }

    /// Forgets everything. The file stays, so that readers are not left with a deleted one.
    pub fn clear(&mut self) -> Result<(), StoreError> {
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        tx.execute_batch("DELETE FROM signatures; DELETE FROM vectors;")?;
        Ok(tx.commit()?)
    }

    /// Gives the log's pages to the file, so that it does not grow without end.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        Ok(self
            .conn
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
    }
}

fn create(conn: &mut Connection) -> Result<(), StoreError> {
    // A row's vectors fit into one page, and a page holds many signatures.
    conn.pragma_update(None, "page_size", 16_384)?;
    conn.execute_batch(include_str!("migrations/vectors.sql"))?;
    conn.execute(
        "INSERT INTO meta (key, value) VALUES ('uid', ?1)",
        [PublicId::new()],
    )?;
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

fn remove(path: &Path) -> Result<(), StoreError> {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        match std::fs::remove_file(&name) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io(path.display(), e));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Kinds are small numbers here: they stand in every signature.
fn number(kind: RowKind) -> u8 {
    match kind {
        RowKind::Observation => 0,
        RowKind::Summary => 1,
        RowKind::Prompt => 2,
        RowKind::Message => 3,
    }
}

fn kind(row: &Row<'_>, at: usize) -> rusqlite::Result<RowKind> {
    let number: i64 = row.get(at)?;
    RowKind::ALL
        .into_iter()
        .find(|&kind| i64::from(self::number(kind)) == number)
        .ok_or(rusqlite::Error::IntegralValueOutOfRange(at, number))
}

/// What belongs to no project is kept under a number that no project has.
pub const NOBODYS: ProjectId = ProjectId(0);

fn key(project: Option<ProjectId>) -> i64 {
    project.unwrap_or(NOBODYS).0
}

fn project(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<ProjectId>> {
    Ok(Some(row.get::<_, i64>(at)?)
        .filter(|&id| id != 0)
        .map(ProjectId))
}

#[cfg(test)]
#[path = "vectors_tests.rs"]
mod tests;
