//! Projects and the keys they are known by (remote, git directory, path, name).

use std::path::Path;

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn, key_column, name_column, path_column};
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::{ProjectId, PublicId};
use claude_mem_core::project::{COMMIT_KEY, GIT_KEY, PATH_KEY, REMOTE_KEY};

/// A project as stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProjectRow {
    pub id: ProjectId,
    pub name: String,
    pub root: String,
    pub last_active: Millis,
}

/// Maximum commit ids that are kept of a project. Any full clone contains all of them.
const PROJECT_COMMITS_MAX: usize = 512;

/// The key prefix of a project that is known only by its name.
const NAME_KEY: &str = "name:";

/// The key of a project of which an import knows only the name.
pub fn name_key(name: &str) -> String {
    format!("{NAME_KEY}{}", name.to_lowercase())
}

/// The name keys that a program which names projects after directories would have used.
fn name_keys_of_paths(keys: &[String]) -> Vec<String> {
    let located = keys.iter().filter(|key| !key.starts_with(NAME_KEY) && !key.starts_with(COMMIT_KEY));
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

    /// The project of a directory: the one that knows it by its path or git directory, else the one with
    /// its remote, if they share history. If no key is known, a project that an import knows only by
    /// name belongs to the first directory with that name.
    pub fn project_by_keys(&self, keys: &[String]) -> Result<Option<ProjectId>, StoreError> {
        if let Some(local) = self.local_project(keys)? {
            return Ok(Some(local));
        }
        match self.claimed_project(keys)? {
            None => self.project_by_exact_keys(&name_keys_of_paths(keys)),
            Some(claimed) => Ok(self.shares_history(keys, claimed)?.then_some(claimed)),
        }
    }

    /// A project that the directory claims to be by its remote, without being known as a part of it.
    pub fn unconfirmed_project(&self, keys: &[String]) -> Result<Option<ProjectRow>, StoreError> {
        match self.claimed_project(keys)? {
            Some(claimed) if self.project_by_keys(keys)? != Some(claimed) => self.project(claimed).map(Some),
            _ => Ok(None),
        }
    }

    /// The project that knows the directory itself.
    fn local_project(&self, keys: &[String]) -> Result<Option<ProjectId>, StoreError> {
        let is_claim = |key: &&String| key.starts_with(REMOTE_KEY) || key.starts_with(COMMIT_KEY);
        self.project_by_exact_keys(keys.iter().filter(|key| !is_claim(key)))
    }

    /// The project with the directory's remote, which is only a claim.
    fn claimed_project(&self, keys: &[String]) -> Result<Option<ProjectId>, StoreError> {
        self.project_by_exact_keys(keys.iter().filter(|key| key.starts_with(REMOTE_KEY)))
    }

    /// Whether the directory with these keys has a commit in common with the project. The ids among the keys are
    /// no evidence: a directory can name a commit that it does not have.
    fn shares_history(&self, keys: &[String], project: ProjectId) -> Result<bool, StoreError> {
        let Some(directory) = keys.iter().find_map(|key| key.strip_prefix(PATH_KEY)) else {
            return Ok(false);
        };
        let known = self.project_commits(project)?;
        let root = self.project(project)?.root;
        Ok(claude_mem_core::project::shares_history(Path::new(directory), &known, Path::new(&root)))
    }

    /// The commit ids that were seen in a project.
    fn project_commits(&self, project: ProjectId) -> Result<Vec<String>, StoreError> {
        let mut keys = self.0.prepare_cached(
            "SELECT key FROM project_aliases WHERE key GLOB 'commit:*' AND project_id = ?1",
        )?;
        let rows = keys.query_map([project.sql()], |row| row.get::<_, String>(0))?;
        rows.map(|key| Ok(key?.trim_start_matches(COMMIT_KEY).to_owned())).collect()
    }

    pub(crate) fn project_by_exact_keys<'k>(
        &self,
        keys: impl IntoIterator<Item = &'k String>,
    ) -> Result<Option<ProjectId>, StoreError> {
        let mut by_key = self.0.prepare_cached("SELECT project_id FROM project_aliases WHERE key = ?1")?;
        for key in keys {
            if let Some(id) = by_key.query_row([key_column(key)], |row| row.column(0)).optional()? {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Every key that names a project.
    pub fn project_keys(&self, id: ProjectId) -> Result<Vec<String>, StoreError> {
        let mut keys = self.0.prepare_cached(
            "SELECT key FROM project_aliases WHERE project_id = ?1 AND key NOT GLOB 'commit:*' ORDER BY key",
        )?;
        Ok(keys.query_map([id.sql()], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }
}

impl StoreWriter<'_> {
    /// Finds or creates the project and stores all its current keys, so that a repository that
    /// gains a remote keeps its memories.
    pub fn ensure_project(&self, hint: &ProjectHint, now: Millis) -> Result<ProjectId, StoreError> {
        let local = self.local_project(&hint.keys)?;
        let id = match (local, self.claimed_project(&hint.keys)?) {
            // A directory that was replaced by a clone of another project, or that has caught up with it.
            (_, Some(claimed)) if local != Some(claimed) && self.shares_history(&hint.keys, claimed)? => {
                self.move_local_keys(&hint.keys, claimed)?;
                claimed
            }
            (Some(local), _) => local,
            // A claim without evidence: a project of its own, which does not get the remote's key.
            (None, Some(_)) => self.create_project(hint, now)?,
            (None, None) => match self.project_by_exact_keys(&name_keys_of_paths(&hint.keys))? {
                Some(id) => self.drop_name_keys(id)?,
                None => self.create_project(hint, now)?,
            },
        };
        self.add_keys(hint, id)?;
        self.touch_project(id, &hint.root, now)?;
        Ok(id)
    }

    /// Finds the project of an imported record by any of its keys, and adds the others. The user names
    /// the file, so a remote is enough; commit ids of a file are no evidence.
    pub(crate) fn join_imported(
        &self,
        hint: &ProjectHint,
        now: Millis,
    ) -> Result<Option<ProjectId>, StoreError> {
        let id = match self.project_by_exact_keys(&hint.keys)? {
            Some(id) => id,
            None => match self.project_by_exact_keys(&name_keys_of_paths(&hint.keys))? {
                Some(id) => self.drop_name_keys(id)?,
                None => return Ok(None),
            },
        };
        self.add_keys(hint, id)?;
        self.touch_project(id, "", now)?;
        Ok(Some(id))
    }

    /// Makes the directory a part of the project, as the user asks for.
    pub fn join_project(&self, hint: &ProjectHint, id: ProjectId, now: Millis) -> Result<(), StoreError> {
        self.move_local_keys(&hint.keys, id)?;
        self.add_keys(hint, id)?;
        self.touch_project(id, "", now)
    }

    fn add_keys(&self, hint: &ProjectHint, id: ProjectId) -> Result<(), StoreError> {
        for key in &hint.keys {
            if !key.starts_with(COMMIT_KEY) || self.project_commits(id)?.len() < PROJECT_COMMITS_MAX {
                self.alias_project(key, id)?;
            }
        }
        Ok(())
    }

    /// Points the directory's own keys to the project that it is now known to belong to.
    fn move_local_keys(&self, keys: &[String], id: ProjectId) -> Result<(), StoreError> {
        let mut update =
            self.tx.prepare_cached("UPDATE project_aliases SET project_id = ?2 WHERE key = ?1")?;
        for key in keys.iter().filter(|key| key.starts_with(PATH_KEY) || key.starts_with(GIT_KEY)) {
            update.execute(params![key_column(key), id.sql()])?;
        }
        Ok(())
    }

    /// Records activity. The root moves only if the known one is gone: another directory of the project,
    /// or one that claims to be, does not displace it.
    fn touch_project(&self, id: ProjectId, root: &str, now: Millis) -> Result<(), StoreError> {
        let known = self.project(id)?.root;
        let stays = root.is_empty() || (!known.is_empty() && Path::new(&known).is_dir());
        let root = if stays { known.as_str() } else { root };
        self.tx
            .prepare_cached(
                "UPDATE projects SET last_active_epoch = max(last_active_epoch, ?2), root = ?3 WHERE id = ?1",
            )?
            .execute(params![id.sql(), now.sql(), path_column(root)])?;
        Ok(())
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
            .execute(params![PublicId::new().sql(), name_column(&hint.name), path_column(&hint.root), now.sql()])?;
        Ok(ProjectId(self.tx.last_insert_rowid()))
    }

    /// Adds a key to a project, unless the key is taken.
    pub fn alias_project(&self, key: &str, id: ProjectId) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO project_aliases (key, project_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            )?
            .execute(params![key_column(key), id.sql()])?;
        Ok(())
    }

    /// Changes the display name.
    pub fn rename_project(&self, id: ProjectId, name: &str) -> Result<(), StoreError> {
        let changed = self
            .tx
            .execute("UPDATE projects SET name = ?2 WHERE id = ?1", params![id.sql(), name_column(name)])?;
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
        // If both are shared, the space of `into` stays; that of `from` is no project's any more.
        self.tx.execute(
            "UPDATE OR IGNORE spaces SET project_id = ?2 WHERE project_id = ?1",
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
