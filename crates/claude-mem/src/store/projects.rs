//! Projects and all the names they have been known by.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{Reads, StoreError, Writes};
use crate::clock::Millis;
use crate::hook::event::ProjectHint;
use crate::ids::{ProjectId, PublicId};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Project {
    pub id: ProjectId,
    pub name: String,
    pub root: String,
    pub last_active: Millis,
}

/// Begins the key of a project that is known by its name alone.
const NAME_KEY: &str = "name:";

/// The key of a project of which an import knows no more than its name.
pub fn name_key(name: &str) -> String {
    format!("{NAME_KEY}{}", name.to_lowercase())
}

/// What a program that names projects after directories would have called these.
fn bare_names(keys: &[String]) -> Vec<String> {
    let located = keys.iter().filter(|key| !key.starts_with(NAME_KEY));
    let last_parts = located.filter_map(|key| {
        let path = key.trim_end_matches('/');
        let path = path.strip_suffix("/.git").unwrap_or(path);
        path.rsplit(['/', ':']).next()
    });
    last_parts
        .filter(|name| !name.is_empty())
        .map(name_key)
        .collect()
}

const COLUMNS: &str = "SELECT id, name, root, last_active_epoch FROM projects";

fn project(row: &Row<'_>) -> rusqlite::Result<Project> {
    Ok(Project {
        id: row.get(0)?,
        name: row.get(1)?,
        root: row.get(2)?,
        last_active: row.get(3)?,
    })
}

impl Reads<'_> {
    pub fn project(&self, id: ProjectId) -> Result<Project, StoreError> {
        let found = self
            .0
            .prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?
            .query_row([id], project)
            .optional()?;
        found.ok_or(StoreError::NoSuchRow {
            what: "project",
            id: id.0,
        })
    }

    /// Most recently active first.
    pub fn projects(&self) -> Result<Vec<Project>, StoreError> {
        let mut all = self
            .0
            .prepare_cached(&format!("{COLUMNS} ORDER BY last_active_epoch DESC, id"))?;
        Ok(all.query_map([], project)?.collect::<Result<_, _>>()?)
    }

    /// Every project of this name; two directories may well be called the same.
    pub fn projects_named(&self, name: &str) -> Result<Vec<Project>, StoreError> {
        let mut named = self.0.prepare_cached(&format!(
            "{COLUMNS} WHERE name = ?1 COLLATE NOCASE ORDER BY last_active_epoch DESC"
        ))?;
        Ok(named
            .query_map([name], project)?
            .collect::<Result<_, _>>()?)
    }

    /// The project that any of these keys belongs to, the strongest key deciding. One that an
    /// import knows by its name alone is the first directory's that is called so.
    pub fn project_by_keys(&self, keys: &[String]) -> Result<Option<ProjectId>, StoreError> {
        match self.project_by_exact_keys(keys)? {
            None => self.project_by_exact_keys(&bare_names(keys)),
            found => Ok(found),
        }
    }

    fn project_by_exact_keys(&self, keys: &[String]) -> Result<Option<ProjectId>, StoreError> {
        let mut by_key = self
            .0
            .prepare_cached("SELECT project_id FROM project_aliases WHERE key = ?1")?;
        for key in keys {
            if let Some(id) = by_key.query_row([key], |row| row.get(0)).optional()? {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    pub fn project_keys(&self, id: ProjectId) -> Result<Vec<String>, StoreError> {
        let mut keys = self
            .0
            .prepare_cached("SELECT key FROM project_aliases WHERE project_id = ?1 ORDER BY key")?;
        Ok(keys
            .query_map([id], |row| row.get(0))?
            .collect::<Result<_, _>>()?)
    }
}

impl Writes<'_> {
    /// Finds or makes the project, and remembers every key it is known by now: a repository
    /// that gains a remote keeps its memories.
    pub fn ensure_project(&self, hint: &ProjectHint, now: Millis) -> Result<ProjectId, StoreError> {
        let id = match self.project_by_exact_keys(&hint.keys)? {
            Some(id) => id,
            None => match self.project_by_exact_keys(&bare_names(&hint.keys))? {
                Some(id) => self.locate_project(id)?,
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
            .execute(params![id, now, hint.root])?;
        Ok(id)
    }

    /// From now on it has a place: another directory of that name is another project.
    fn locate_project(&self, id: ProjectId) -> Result<ProjectId, StoreError> {
        self.tx
            .prepare_cached("DELETE FROM project_aliases WHERE project_id = ?1 AND key GLOB ?2")?
            .execute(params![id, format!("{NAME_KEY}*")])?;
        Ok(id)
    }

    fn create_project(&self, hint: &ProjectHint, now: Millis) -> Result<ProjectId, StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO projects (uid, name, root, created_at_epoch, last_active_epoch) VALUES (?1, ?2, ?3, ?4, ?4)",
            )?
            .execute(params![PublicId::new(), hint.name, hint.root, now])?;
        Ok(ProjectId(self.tx.last_insert_rowid()))
    }

    /// Lets `key` mean this project, unless it already means one.
    pub fn alias_project(&self, key: &str, id: ProjectId) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("INSERT INTO project_aliases (key, project_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
            .execute(params![key, id])?;
        Ok(())
    }

    pub fn rename_project(&self, id: ProjectId, name: &str) -> Result<(), StoreError> {
        let changed = self.tx.execute(
            "UPDATE projects SET name = ?2 WHERE id = ?1",
            params![id, name],
        )?;
        if changed == 0 {
            Err(StoreError::NoSuchRow {
                what: "project",
                id: id.0,
            })
        } else {
            Ok(())
        }
    }

    /// Everything of `from` becomes `into`'s, and `from`'s keys lead there from now on.
    pub fn merge_projects(&self, from: ProjectId, into: ProjectId) -> Result<(), StoreError> {
        self.project(from)?;
        self.project(into)?;
        for table in [
            "sdk_sessions",
            "user_prompts",
            "final_messages",
            "observations",
            "session_summaries",
            "project_aliases",
        ] {
            self.tx.execute(
                &format!("UPDATE {table} SET project_id = ?2 WHERE project_id = ?1"),
                params![from, into],
            )?;
        }
        self.tx.execute(
            "UPDATE OR REPLACE file_refs SET project_id = ?2 WHERE project_id = ?1",
            params![from, into],
        )?;
        self.move_texts(from, into)?;
        self.tx
            .execute("DELETE FROM projects WHERE id = ?1", [from])?;
        Ok(())
    }

    /// True once per project: the first time it is greeted.
    pub fn welcome_project(&self, id: ProjectId) -> Result<bool, StoreError> {
        Ok(self.tx.execute(
            "UPDATE projects SET welcomed = 1 WHERE id = ?1 AND welcomed = 0",
            [id],
        )? == 1)
    }
}
