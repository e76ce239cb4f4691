//! The file index: which rows refer to which file. Always an index lookup, never a scan over rows.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, Row, params};

use super::filter::WhereClause;
use super::{RowId, RowKind, StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn, path_column};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ProjectId;

/// A row's reference to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRef {
    pub path: String,
    pub kind: RowKind,
    pub row_id: i64,
    pub modified: bool,
    pub created_at: Millis,
}

/// A folder with so many references that testing each row is cheaper than listing all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WideFolder {
    from: String,
    to: String,
}

/// From this many references on, listing all rows takes longer than testing the candidates.
const WIDE_REFS_MIN: u32 = 3_000;

fn file_ref(row: &Row<'_>) -> rusqlite::Result<FileRef> {
    Ok(FileRef {
        path: row.get(0)?,
        kind: row.get(1)?,
        row_id: row.get(2)?,
        modified: row.get(3)?,
        created_at: row.column(4)?,
    })
}

const REFS_BY_NAME: &str = "SELECT path, kind, row_id, modified, created_at_epoch FROM file_refs
    WHERE project_id = ?1 AND name = ?2 ORDER BY created_at_epoch DESC";
/// Rows of one kind, unordered: the caller sorts what is left.
const ROWS_OF_FILE: &str = "SELECT path, row_id, created_at_epoch FROM file_refs
    WHERE project_id = ?1 AND name = ?2 AND kind = ?3";
const ROWS_OF_FOLDER: &str = "SELECT row_id, created_at_epoch FROM file_refs
    WHERE project_id = ?1 AND path >= ?2 AND path < ?3 AND kind = ?4";

/// A row id with its creation time; sorts by time.
pub(super) type TimedRow = (Millis, i64);

impl StoreReader<'_> {
    /// The references to a file, newest first. `file` is a path or the end of one (`session.rs`,
    /// `auth/session.rs`).
    pub fn refs_of_file(&self, project: ProjectId, file: &str) -> Result<Vec<FileRef>, StoreError> {
        let file = self.to_stored_path(project, file)?;
        let mut found = self.refs_by_name(project, &file)?;
        let longest = found.iter().filter_map(|one| common_suffix_len(&one.path, &file)).max();
        found.retain(|one| common_suffix_len(&one.path, &file) == longest && longest.is_some());
        Ok(found)
    }

    /// The references to exactly this path, relative to the project's root, newest first.
    pub fn refs_of_path(&self, project: ProjectId, path: &str) -> Result<Vec<FileRef>, StoreError> {
        let path = self.to_stored_path(project, path)?;
        let mut found = self.refs_by_name(project, &path)?;
        let root = self.project_root(project)?;
        // Imported rows may hold the absolute path.
        let whole = format!("{}/{path}", root.trim_end_matches('/'));
        found.retain(|one| one.path == path || one.path == whole);
        Ok(found)
    }

    fn refs_by_name(&self, project: ProjectId, path: &str) -> Result<Vec<FileRef>, StoreError> {
        let mut statement = self.0.prepare_cached(REFS_BY_NAME)?;
        let rows = statement.query_map(params![project.sql(), file_name(path)], file_ref)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Whether any row refers to this file, or to one below this folder.
    pub fn has_file_refs(&self, file: &str) -> Result<bool, StoreError> {
        let mut one_below = self.0.prepare_cached(
            "SELECT 1 FROM file_refs WHERE project_id = ?1 AND path >= ?2 AND path < ?3 LIMIT 1",
        )?;
        for project in self.project_or_all(None)? {
            let file = self.to_stored_path(project, file)?;
            let (from, to) = folder_range(&file);
            if one_below.exists(params![project.sql(), from, to])?
                || !file.ends_with('/') && !self.refs_of_file(project, &file)?.is_empty()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Converts a path as typed into the stored form, relative to the project's root.
    pub(super) fn to_stored_path(&self, project: ProjectId, file: &str) -> Result<String, StoreError> {
        let file = file.strip_prefix("./").unwrap_or(file);
        if !file.starts_with('/') {
            return Ok(file.to_owned());
        }
        let root = self.project_root(project)?;
        let root = root.trim_end_matches('/');
        let inside = file.strip_prefix(root).filter(|_| !root.is_empty());
        let inside = inside.and_then(|inside| inside.strip_prefix('/'));
        Ok(inside.unwrap_or(file).to_owned())
    }

    fn project_root(&self, project: ProjectId) -> Result<String, StoreError> {
        let mut statement = self.0.prepare_cached("SELECT root FROM projects WHERE id = ?1")?;
        let root = statement.query_row([project.sql()], |row| row.get(0)).optional()?;
        Ok(root.unwrap_or_default())
    }

    /// Restricts a query to rows of one kind that refer to one of these files: by row id, or by
    /// testing each row if the folder is a [`WideFolder`].
    pub(super) fn and_files(
        &self,
        clause: &mut WhereClause,
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

    /// The requested folder, if it is the only file given and has too many references to list.
    pub fn wide_folder(
        &self,
        project: Option<ProjectId>,
        files: &[String],
    ) -> Result<Option<WideFolder>, StoreError> {
        let [folder] = files else { return Ok(None) };
        let folder = match project {
            Some(project) => &self.to_stored_path(project, folder)?,
            None => folder,
        };
        let (from, to) = folder_range(folder);
        let mut counted = self.0.prepare_cached(&format!(
            "SELECT count(*) FROM (SELECT 1 FROM file_refs WHERE project_id = ?1 AND path >= ?2 AND path < ?3
             LIMIT {WIDE_REFS_MIN})"
        ))?;
        let mut refs = 0;
        for project in self.project_or_all(project)? {
            // If it is a file in one of the projects, look it up as a file.
            if !folder.ends_with('/') && !self.refs_of_file(project, folder)?.is_empty() {
                return Ok(None);
            }
            refs += counted.query_row(params![project.sql(), from, to], |row| row.get::<_, u32>(0))?;
        }
        Ok((refs >= WIDE_REFS_MIN).then_some(WideFolder { from, to }))
    }

    /// Whether a row refers to a file below the folder.
    pub fn refers_below(
        &self,
        WideFolder { from, to }: &WideFolder,
        RowId { kind, row_id }: RowId,
    ) -> Result<bool, StoreError> {
        let mut found = self.0.prepare_cached(
            "SELECT 1 FROM file_refs WHERE kind = ?1 AND row_id = ?2 AND path >= ?3 AND path < ?4",
        )?;
        Ok(found.exists(params![kind, row_id, from, to])?)
    }

    fn project_or_all(&self, project: Option<ProjectId>) -> Result<Vec<ProjectId>, StoreError> {
        match project {
            Some(id) => Ok(vec![id]),
            None => Ok(self.projects()?.into_iter().map(|one| one.id).collect()),
        }
    }

    /// Rows that refer to any of these, newest first. Each is a path, the end of one, or a folder
    /// relative to the project's root.
    pub(super) fn rows_of_files(
        &self,
        kind: RowKind,
        project: Option<ProjectId>,
        files: &[String],
    ) -> Result<Vec<TimedRow>, StoreError> {
        let mut rows = Vec::new();
        for project in self.project_or_all(project)? {
            for file in files {
                let file = self.to_stored_path(project, file)?;
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
        let mut statement = self.0.prepare_cached(ROWS_OF_FILE)?;
        let mut rows = statement.query(params![project.sql(), file_name(file), kind])?;
        let before = into.len();
        let mut longest = 0;
        while let Some(row) = rows.next()? {
            let path = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            let Some(length) = common_suffix_len(path, file).filter(|length| *length >= longest) else {
                continue;
            };
            if length > longest {
                into.truncate(before);
                longest = length;
            }
            into.push((row.column(2)?, row.get(1)?));
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
        let (from, to) = folder_range(folder);
        let mut statement = self.0.prepare_cached(ROWS_OF_FOLDER)?;
        let mut rows = statement.query(params![project.sql(), from, to, kind])?;
        while let Some(row) = rows.next()? {
            into.push((row.column(1)?, row.get(0)?));
        }
        Ok(())
    }
}

impl StoreWriter<'_> {
    /// Replaces the file references of a row.
    pub(super) fn index_files(
        &self,
        RowId { kind, row_id }: RowId,
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
        let all = read.iter().map(|path| (path, false)).chain(modified.iter().map(|path| (path, true)));
        for (path, modified) in all {
            insert.execute(params![
                project.sql(),
                path_column(file_name(path)),
                path_column(path),
                kind,
                row_id,
                modified,
                at.sql()
            ])?;
        }
        Ok(())
    }
}

/// The range of all paths below a folder.
fn folder_range(folder: &str) -> (String, String) {
    let folder = folder.trim_end_matches('/');
    // '0' is the character after '/', so it ends the range of paths with this prefix.
    (format!("{folder}/"), format!("{folder}0"))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The length of the common suffix, if one path ends with the other. Whole components only:
/// `auth/session.rs` is a suffix of `src/auth/session.rs`, but not of `oauth/session.rs`. The
/// requested path may be the longer one only if it is absolute; then the stored path with the
/// longest match is meant, because `docs/README.md` is not the `README.md` of the root.
fn common_suffix_len(stored: &str, asked: &str) -> Option<usize> {
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
    use crate::Store;

    #[test]
    fn paths_match_by_whole_components() {
        for (stored, asked, same) in [
            ("src/auth/session.rs", "session.rs", true),
            ("src/auth/session.rs", "auth/session.rs", true),
            ("src/oauth/session.rs", "auth/session.rs", false),
            ("README.md", "docs/README.md", false),
            ("docs/README.md", "README.md", true),
            ("Cargo.toml", "crates/inner/Cargo.toml", false),
            ("docs/README.md", "/srv/app/docs/README.md", true),
        ] {
            assert_eq!(common_suffix_len(stored, asked).is_some(), same, "{stored} for {asked}");
        }
        let nearer = common_suffix_len("docs/README.md", "/srv/app/docs/README.md");
        assert!(nearer > common_suffix_len("README.md", "/srv/app/docs/README.md"));
    }

    #[test]
    fn file_queries_use_an_index() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("m.db")).unwrap();
        for (sql, by) in [
            (REFS_BY_NAME, "USING PRIMARY KEY (project_id=? AND name=?)"),
            (ROWS_OF_FILE, "USING PRIMARY KEY (project_id=? AND name=?)"),
            (ROWS_OF_FOLDER, "USING COVERING INDEX file_refs_by_path (project_id=? AND path>? AND path<?)"),
        ] {
            let plan = store.read().query_plan(sql);
            assert!(plan.contains(by) && !plan.contains("SCAN"), "{plan}");
        }
    }
}
