//! The files that each session read and edited, as its tool calls show.

use rusqlite::params;

use super::{StoreError, StoreReader, StoreWriter};
use crate::columns::{SqlColumn, path_column};
use claude_mem_core::ids::{ProjectId, SessionId};

/// A file that one of the latest sessions touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFile {
    pub session: SessionId,
    /// 0 for the latest session, 1 for the one before it.
    pub sessions_ago: u32,
    /// Relative to the project's root, if it is below it.
    pub path: String,
    pub edited: bool,
}

/// Maximum files read of one session: one that touches more says little about each of them.
const FILES_PER_SESSION_MAX: u32 = 200;

impl StoreReader<'_> {
    /// The first edited files of a session by path, and how many there are.
    pub fn files_edited_in(&self, session: SessionId, limit: u32) -> Result<(Vec<String>, u64), StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT path, count(*) OVER () FROM session_files WHERE session_id = ?1 AND edited = 1 ORDER BY path LIMIT ?2",
        )?;
        let (mut paths, mut count) = (Vec::new(), 0);
        let mut found = rows.query(params![session.sql(), limit])?;
        while let Some(row) = found.next()? {
            paths.push(row.get(0)?);
            count = row.get(1)?;
        }
        Ok((paths, count))
    }

    /// The files of the latest sessions of a project, latest session first. Sessions without files do not
    /// count, nor does the session that asks.
    pub fn recent_session_files(
        &self,
        project: ProjectId,
        sessions: u32,
        own: Option<SessionId>,
    ) -> Result<Vec<SessionFile>, StoreError> {
        let mut latest = self.0.prepare_cached(
            "SELECT s.id FROM sdk_sessions AS s WHERE s.project_id = ?1 AND s.id IS NOT ?2
               AND EXISTS (SELECT 1 FROM session_files AS f WHERE f.session_id = s.id)
             ORDER BY s.created_at_epoch DESC LIMIT ?3",
        )?;
        let ids = latest.query_map(params![project.sql(), own.map(|id| id.sql()), sessions], |row| {
            row.get::<_, i64>(0)
        })?;
        let ids: Vec<i64> = ids.collect::<Result<_, _>>()?;
        let mut files =
            self.0.prepare_cached("SELECT path, edited FROM session_files WHERE session_id = ?1 LIMIT ?2")?;
        let mut found = Vec::new();
        for (sessions_ago, id) in (0..).zip(ids) {
            let rows = files.query_map(params![id, FILES_PER_SESSION_MAX], |row| {
                Ok(SessionFile {
                    session: SessionId(id),
                    sessions_ago,
                    path: row.get(0)?,
                    edited: row.get(1)?,
                })
            })?;
            for file in rows {
                found.push(file?);
            }
        }
        Ok(found)
    }
}

impl StoreWriter<'_> {
    /// Records that a session read or edited a file. An edit is never forgotten by a later read.
    pub fn record_session_file(
        &self,
        session: SessionId,
        project: Option<ProjectId>,
        path: &str,
        edited: bool,
    ) -> Result<(), StoreError> {
        let path = match project {
            Some(project) => self.to_stored_path(project, path)?,
            None => path.to_owned(),
        };
        self.tx
            .prepare_cached(
                "INSERT INTO session_files (session_id, path, edited) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET edited = max(edited, excluded.edited)",
            )?
            .execute(params![session.sql(), path_column(&path), edited])?;
        Ok(())
    }
}
