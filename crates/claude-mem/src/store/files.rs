//! Which rows speak of which file: an index look-up, never a scan over rows.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, Row, params};

use super::filter::Where;
use super::{Reads, RowKind, StoreError, Writes};
use crate::clock::Millis;
use crate::ids::ProjectId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRef {
    pub path: String,
    pub kind: RowKind,
    pub row_id: i64,
    pub modified: bool,
    pub created_at: Millis,
}

/// A folder that so much is about that its rows are better tested than listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WideFolder {
    from: String,
    to: String,
}

/// From here on, naming every row takes longer than testing those that are looked at anyway.
const WIDE_REFS_MIN: u32 = 3_000;

fn file_ref(row: &Row<'_>) -> rusqlite::Result<FileRef> {
    Ok(FileRef {
        path: row.get(0)?,
        kind: row.get(1)?,
        row_id: row.get(2)?,
        modified: row.get(3)?,
        created_at: row.get(4)?,
    })
}

const OF_FILE: &str = "SELECT path, kind, row_id, modified, created_at_epoch FROM file_refs
    WHERE project_id = ?1 AND name = ?2 ORDER BY created_at_epoch DESC";
/// Of one kind, without an order: who asks sorts what is left.
const ROWS_OF_FILE: &str = "SELECT path, row_id, created_at_epoch FROM file_refs
    WHERE project_id = ?1 AND name = ?2 AND kind = ?3";
const ROWS_OF_FOLDER: &str = "SELECT row_id, created_at_epoch FROM file_refs
    WHERE project_id = ?1 AND path >= ?2 AND path < ?3 AND kind = ?4";

/// A row and its time.
pub(super) type TimedRow = (Millis, i64);

impl Reads<'_> {
    /// Newest first. `file` is a path or the end of one (`session.rs`, `auth/session.rs`).
    pub fn refs_of_file(&self, project: ProjectId, file: &str) -> Result<Vec<FileRef>, StoreError> {
        let file = self.as_stored(project, file)?;
        let mut found = self.refs_named(project, &file)?;
        let longest = found.iter().filter_map(|one| ends(&one.path, &file)).max();
        found.retain(|one| ends(&one.path, &file) == longest && longest.is_some());
        Ok(found)
    }

    /// Newest first, of this very file: `path` is from the project's root. Another file of its
    /// name is another file.
    pub fn refs_of_path(&self, project: ProjectId, path: &str) -> Result<Vec<FileRef>, StoreError> {
        let path = self.as_stored(project, path)?;
        let mut found = self.refs_named(project, &path)?;
        let root = self.root_of(project)?;
        // Rows from elsewhere may have the whole path.
        let whole = format!("{}/{path}", root.trim_end_matches('/'));
        found.retain(|one| one.path == path || one.path == whole);
        Ok(found)
    }

    fn refs_named(&self, project: ProjectId, path: &str) -> Result<Vec<FileRef>, StoreError> {
        let mut rows = self.0.prepare_cached(OF_FILE)?;
        let rows = rows.query_map(params![project, file_name(path)], file_ref)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Whether any row speaks of such a file, or of one below such a folder.
    pub fn knows_file(&self, file: &str) -> Result<bool, StoreError> {
        let mut one_below = self.0.prepare_cached(
            "SELECT 1 FROM file_refs WHERE project_id = ?1 AND path >= ?2 AND path < ?3 LIMIT 1",
        )?;
        for project in self.these_projects(None)? {
            let file = self.as_stored(project, file)?;
            let (from, to) = below(&file);
            if one_below.exists(params![project, from, to])?
                || !file.ends_with('/') && !self.refs_of_file(project, &file)?.is_empty()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A path as rows have it, from the project's root, whichever way it was typed.
    fn as_stored(&self, project: ProjectId, file: &str) -> Result<String, StoreError> {
        let file = file.strip_prefix("./").unwrap_or(file);
        if !file.starts_with('/') {
            return Ok(file.to_owned());
        }
        let root = self.root_of(project)?;
        let root = root.trim_end_matches('/');
        let inside = file.strip_prefix(root).filter(|_| !root.is_empty());
        let inside = inside.and_then(|inside| inside.strip_prefix('/'));
        Ok(inside.unwrap_or(file).to_owned())
    }

    fn root_of(&self, project: ProjectId) -> Result<String, StoreError> {
        let mut root = self
            .0
            .prepare_cached("SELECT root FROM projects WHERE id = ?1")?;
        let root = root.query_row([project], |row| row.get(0)).optional()?;
        Ok(root.unwrap_or_default())
    }

    /// Files that rows since `since` speak of, most recent first.
    pub fn files_since(
        &self,
        project: ProjectId,
        since: Millis,
        limit: u32,
    ) -> Result<Vec<(String, Millis)>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT path, max(created_at_epoch) AS newest FROM file_refs
             WHERE project_id = ?1 AND created_at_epoch >= ?2 GROUP BY path ORDER BY newest DESC LIMIT ?3",
        )?;
        Ok(rows
            .query_map(params![project, since, limit], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
            .collect::<Result<_, _>>()?)
    }

    /// Only rows of a kind that speak of one of these files: those of a few by their numbers,
    /// those of a folder that half the rows are about by looking at each row in its turn.
    pub(super) fn and_files(
        &self,
        clause: &mut Where,
        kind: RowKind,
        project: Option<ProjectId>,
        files: &[String],
    ) -> Result<(), StoreError> {
        if files.is_empty() {
            return Ok(());
        }
        if let Some(WideFolder { from, to }) = self.wide_folder(project, files)? {
            let kind = Value::Text(kind.as_str().to_owned());
            let bounds = [kind, Value::Text(from), Value::Text(to)];
            clause.and(
                "EXISTS (SELECT 1 FROM file_refs WHERE kind = ? AND row_id = id AND path >= ? AND path < ?)",
                bounds,
            );
            return Ok(());
        }
        let rows = self.rows_of_files(kind, project, files)?;
        let ids: Vec<i64> = rows.into_iter().map(|(_, id)| id).collect();
        let ids = Value::Text(serde_json::to_string(&ids)?);
        clause.and("id IN (SELECT value FROM json_each(?))", [ids]);
        Ok(())
    }

    /// The folder that is asked for, if it is one and too much lies below it to name every row.
    pub fn wide_folder(
        &self,
        project: Option<ProjectId>,
        files: &[String],
    ) -> Result<Option<WideFolder>, StoreError> {
        let [folder] = files else { return Ok(None) };
        let folder = match project {
            Some(project) => &self.as_stored(project, folder)?,
            None => folder,
        };
        let (from, to) = below(folder);
        let mut counted = self.0.prepare_cached(&format!(
            "SELECT count(*) FROM (SELECT 1 FROM file_refs WHERE project_id = ?1 AND path >= ?2 AND path < ?3
             LIMIT {WIDE_REFS_MIN})"
        ))?;
        let mut refs = 0;
        for project in self.these_projects(project)? {
            // What is a file in one of them is looked up there as one.
            if !folder.ends_with('/') && !self.refs_of_file(project, folder)?.is_empty() {
                return Ok(None);
            }
            refs += counted.query_row(params![project, from, to], |row| row.get::<_, u32>(0))?;
        }
        Ok((refs >= WIDE_REFS_MIN).then_some(WideFolder { from, to }))
    }

    /// Whether a row speaks of a file below the folder.
    pub fn is_below(
        &self,
        WideFolder { from, to }: &WideFolder,
        kind: RowKind,
        row_id: i64,
    ) -> Result<bool, StoreError> {
        let mut found = self.0.prepare_cached(
            "SELECT 1 FROM file_refs WHERE kind = ?1 AND row_id = ?2 AND path >= ?3 AND path < ?4",
        )?;
        Ok(found.exists(params![kind, row_id, from, to])?)
    }

    fn these_projects(&self, project: Option<ProjectId>) -> Result<Vec<ProjectId>, StoreError> {
        match project {
            Some(id) => Ok(vec![id]),
            None => Ok(self.projects()?.into_iter().map(|one| one.id).collect()),
        }
    }

    /// Rows that speak of any of these, newest first: each a path, the end of one, or a folder
    /// from the project's root.
    pub(super) fn rows_of_files(
        &self,
        kind: RowKind,
        project: Option<ProjectId>,
        files: &[String],
    ) -> Result<Vec<TimedRow>, StoreError> {
        let mut rows = Vec::new();
        for project in self.these_projects(project)? {
            for file in files {
                let file = self.as_stored(project, file)?;
                let before = rows.len();
                if !file.ends_with('/') {
                    self.rows_of_file(kind, project, &file, &mut rows)?;
                }
                if rows.len() == before {
                    self.rows_of_folder(kind, project, &file, &mut rows)?;
                }
            }
        }
        rows.sort_unstable_by(|a, b| b.cmp(a));
        rows.dedup();
        Ok(rows)
    }

    fn rows_of_file(
        &self,
        kind: RowKind,
        project: ProjectId,
        file: &str,
        into: &mut Vec<TimedRow>,
    ) -> Result<(), StoreError> {
        let mut rows = self.0.prepare_cached(ROWS_OF_FILE)?;
        let mut rows = rows.query(params![project, file_name(file), kind])?;
        let before = into.len();
        let mut longest = 0;
        while let Some(row) = rows.next()? {
            let path = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            let Some(length) = ends(path, file).filter(|length| *length >= longest) else {
                continue;
            };
            if length > longest {
                into.truncate(before);
                longest = length;
            }
            into.push((row.get(2)?, row.get(1)?));
        }
        Ok(())
    }

    fn rows_of_folder(
        &self,
        kind: RowKind,
        project: ProjectId,
        folder: &str,
        into: &mut Vec<TimedRow>,
    ) -> Result<(), StoreError> {
        let (from, to) = below(folder);
        let mut rows = self.0.prepare_cached(ROWS_OF_FOLDER)?;
        let mut rows = rows.query(params![project, from, to, kind])?;
        while let Some(row) = rows.next()? {
            into.push((row.get(1)?, row.get(0)?));
        }
        Ok(())
    }
}

impl Writes<'_> {
    pub(super) fn index_files(
        &self,
        kind: RowKind,
        row_id: i64,
        project: ProjectId,
        at: Millis,
        read: &[String],
        modified: &[String],
    ) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("DELETE FROM file_refs WHERE kind = ?1 AND row_id = ?2")?
            .execute(params![kind, row_id])?;
        let mut insert = self.tx.prepare_cached(
            "INSERT INTO file_refs (project_id, name, path, kind, row_id, modified, created_at_epoch)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT DO UPDATE SET modified = max(modified, excluded.modified)",
        )?;
        let all = read
            .iter()
            .map(|path| (path, false))
            .chain(modified.iter().map(|path| (path, true)));
        for (path, modified) in all {
            insert.execute(params![
                project,
                file_name(path),
                path,
                kind,
                row_id,
                modified,
                at
            ])?;
        }
        Ok(())
    }
}

/// The range of the paths below a folder.
fn below(folder: &str) -> (String, String) {
    let folder = folder.trim_end_matches('/');
    // The character after '/' ends the range of all paths that start with it.
    (format!("{folder}/"), format!("{folder}0"))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// How much of the paths is the same, if one ends in the other. Whole components only:
/// `auth/session.rs` ends `src/auth/session.rs`, not `oauth/session.rs`. What was asked may be the
/// longer one only if it is absolute, and then the row that has most of it is meant:
/// `docs/README.md` is not the `README.md` of the root.
fn ends(stored: &str, asked: &str) -> Option<usize> {
    let is_end = |long: &str, short: &str| {
        let rest = long.strip_suffix(short);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/') || short.starts_with('/'))
    };
    if is_end(stored, asked) {
        Some(asked.len())
    } else if asked.starts_with('/') && is_end(asked, stored) {
        Some(stored.len())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    /// How SQLite goes about a query.
    fn plan(store: &Store, sql: &str) -> String {
        let reads = store.read();
        let mut rows = reads
            .0
            .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
            .unwrap();
        let mut rows = rows.raw_query();
        let mut plan = String::new();
        while let Some(row) = rows.next().unwrap() {
            plan.push_str(&row.get::<_, String>(3).unwrap());
            plan.push('\n');
        }
        plan
    }

    #[test]
    fn two_files_of_one_name_are_two_files() {
        for (stored, asked, same) in [
            ("src/auth/session.rs", "session.rs", true),
            ("src/auth/session.rs", "auth/session.rs", true),
            ("src/oauth/session.rs", "auth/session.rs", false),
            ("README.md", "docs/README.md", false),
            ("docs/README.md", "README.md", true),
            ("Cargo.toml", "crates/inner/Cargo.toml", false),
            ("docs/README.md", "/srv/app/docs/README.md", true),
        ] {
            assert_eq!(ends(stored, asked).is_some(), same, "{stored} for {asked}");
        }
        let nearer = ends("docs/README.md", "/srv/app/docs/README.md");
        assert!(nearer > ends("README.md", "/srv/app/docs/README.md"));
    }

    #[test]
    fn files_and_folders_are_looked_up_never_searched_for() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("m.db")).unwrap();
        for (sql, by) in [
            (OF_FILE, "USING PRIMARY KEY (project_id=? AND name=?)"),
            (ROWS_OF_FILE, "USING PRIMARY KEY (project_id=? AND name=?)"),
            (
                ROWS_OF_FOLDER,
                "USING COVERING INDEX file_refs_by_path (project_id=? AND path>? AND path<?)",
            ),
        ] {
            let plan = plan(&store, sql);
            assert!(plan.contains(by) && !plan.contains("SCAN"), "{plan}");
        }
    }
}
