//! Projects and the keys they are known by (remote, git directory, path, name).

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn};
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::{ProjectId, PublicId};

/// A project as stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProjectRow {
    pub id: ProjectId,
    pub name: String,
    pub root: String,
    pub last_active: Millis,
}

/// The key prefix of a project that is known only by its name.
const NAME_KEY: &str = "name:";

/// The key of a project of which an import knows only the name.
pub fn name_key(name: &str) -> String {
    format!("{NAME_KEY}{}", name.to_lowercase())
}

/// The name keys that a program which names projects after directories would have used.
fn name_keys_of_paths(keys: &[String]) -> Vec<String> {
    let located = keys.iter().filter(|key| !key.starts_with(NAME_KEY));
    let last_parts = located.filter_map(|key| {
        let path = key.trim_end_matches('/');
        let path = path.strip_suffix("/.git").unwrap_or(path);
        path.rsplit(['/', ':']).next()
    });
    last_parts.filter(|name| !name.is_empty()).map(name_key).collect()
}

const COLUMNS: &str = "SELECT id, name, root, last_active_epoch FROM projects";

fn project(row: &Row<'_>) -> rusqlite::Result<ProjectRow> {
    Ok(ProjectRow { id: row.column(0)?, name: row.get(1)?, root: row.get(2)?, last_active: row.column(3)? })
}

impl StoreReader<'_> {
    pub fn project(&self, id: ProjectId) -> Result<ProjectRow, StoreError> {
        let found = self
            .0
            .prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?
            .query_row([id.sql()], project)
            .optional()?;
        found.ok_or(StoreError::NoSuchRow { what: "project", id: id.0 })
    }

    /// All projects, most recently active first.
    pub fn projects(&self) -> Result<Vec<ProjectRow>, StoreError> {
        let mut all = self.0.prepare_cached(&format!("{COLUMNS} ORDER BY last_active_epoch DESC, id"))?;
        Ok(all.query_map([], project)?.collect::<Result<_, _>>()?)
    }

    /// Every project with this name: two directories may have the same name.
    pub fn projects_named(&self, name: &str) -> Result<Vec<ProjectRow>, StoreError> {
        let mut named = self.0.prepare_cached(&format!(
            "{COLUMNS} WHERE name = ?1 COLLATE NOCASE ORDER BY last_active_epoch DESC"
        ))?;
        Ok(named.query_map([name], project)?.collect::<Result<_, _>>()?)
    }

    /// The project of the first known key; the strongest key comes first. If no key is known, a
    /// project that an import knows only by name belongs to the first directory with that name.
    pub fn project_by_keys(&self, keys: &[String]) -> Result<Option<ProjectId>, StoreError> {
        match self.project_by_exact_keys(keys)? {
            None => self.project_by_exact_keys(&name_keys_of_paths(keys)),
            found => Ok(found),
        }
    }

    fn project_by_exact_keys(&self, keys: &[String]) -> Result<Option<ProjectId>, StoreError> {
        let mut by_key = self.0.prepare_cached("SELECT project_id FROM project_aliases WHERE key = ?1")?;
        for key in keys {
            if let Some(id) = by_key.query_row([key], |row| row.column(0)).optional()? {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Every key of a project.
    pub fn project_keys(&self, id: ProjectId) -> Result<Vec<String>, StoreError> {
        let mut keys =
            self.0.prepare_cached("SELECT key FROM project_aliases WHERE project_id = ?1 ORDER BY key")?;
        Ok(keys.query_map([id.sql()], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }
}

impl StoreWriter<'_> {
    /// Finds or creates the project and stores all its current keys, so that a repository that
    /// gains a remote keeps its memories.
    pub fn ensure_project(&self, hint: &ProjectHint, now: Millis) -> Result<ProjectId, StoreError> {
        let id = match self.project_by_exact_keys(&hint.keys)? {
            Some(id) => id,
            None => match self.project_by_exact_keys(&name_keys_of_paths(&hint.keys))? {
                Some(id) => self.drop_name_keys(id)?,
                None => self.create_project(hint, now)?,
            },
        };
        for key in &hint.keys {
            self.alias_project(key, id)?;
        }
        self.tx
            .prepare_cached(
                "UPDATE projects SET last_active_epoch = max(last_active_epoch, ?2),
                 root = CASE WHEN ?3 = '' THEN root ELSE ?3 END WHERE id = ?1",
            )?
            .execute(params![id.sql(), now.sql(), hint.root])?;
        Ok(id)
    }

    /// Removes the name keys of a project that now has a path: another directory with that name is
    /// another project.
    fn drop_name_keys(&self, id: ProjectId) -> Result<ProjectId, StoreError> {
        self.tx
            .prepare_cached("DELETE FROM project_aliases WHERE project_id = ?1 AND key GLOB ?2")?
            .execute(params![id.sql(), format!("{NAME_KEY}*")])?;
        Ok(id)
    }

    fn create_project(&self, hint: &ProjectHint, now: Millis) -> Result<ProjectId, StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO projects (uid, name, root, created_at_epoch, last_active_epoch) VALUES (?1, ?2, ?3, ?4, ?4)",
            )?
            .execute(params![PublicId::new().sql(), hint.name, hint.root, now.sql()])?;
        Ok(ProjectId(self.tx.last_insert_rowid()))
    }

    /// Adds a key to a project, unless the key is taken.
    pub fn alias_project(&self, key: &str, id: ProjectId) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO project_aliases (key, project_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            )?
            .execute(params![key, id.sql()])?;
        Ok(())
    }

    /// Changes the display name.
    pub fn rename_project(&self, id: ProjectId, name: &str) -> Result<(), StoreError> {
        let changed =
            self.tx.execute("UPDATE projects SET name = ?2 WHERE id = ?1", params![id.sql(), name])?;
        if changed == 0 { Err(StoreError::NoSuchRow { what: "project", id: id.0 }) } else { Ok(()) }
    }

    /// Moves all rows and keys of `from` to `into` and deletes `from`.
    pub fn merge_projects(&self, from: ProjectId, into: ProjectId) -> Result<(), StoreError> {
        self.project(from)?;
        self.project(into)?;
        for table in [
            "sdk_sessions",
            "user_prompts",
            "final_messages",
            "observations",
            "session_summaries",
            "session_accounts",
            "open_items",
            "project_aliases",
        ] {
            self.tx.execute(
                &format!("UPDATE {table} SET project_id = ?2 WHERE project_id = ?1"),
                params![from.sql(), into.sql()],
            )?;
        }
        self.tx.execute(
            "UPDATE OR REPLACE file_refs SET project_id = ?2 WHERE project_id = ?1",
            params![from.sql(), into.sql()],
        )?;
        self.move_documents(from, into)?;
        self.tx.execute("DELETE FROM projects WHERE id = ?1", [from.sql()])?;
        Ok(())
    }

    /// Marks a project as welcomed. True only the first time.
    pub fn mark_project_welcomed(&self, id: ProjectId) -> Result<bool, StoreError> {
        Ok(self.tx.execute("UPDATE projects SET welcomed = 1 WHERE id = ?1 AND welcomed = 0", [id.sql()])?
            == 1)
    }
}
