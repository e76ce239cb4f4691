//! [`Inbox`]: the one database connection of a hook. Opens fast, reads within a time limit, writes
//! small transactions and leaves checkpoints to the worker.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::{NewFeedback, StoreError, StoreReader, StoreWriter, open, schema, swap, writer};
use crate::replace_lock;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ClientSessionId, ProjectId, SessionId};
use claude_mem_core::limits::{HOOK_BUSY_MS, HOOK_NOTE_BUSY_MS, WAL_LEFT_BYTES_MAX};
use claude_mem_core::paths::with_suffix;

/// The part of the store that hooks need.
#[derive(Debug)]
pub struct Inbox {
    conn: Connection,
    path: PathBuf,
    /// Released after the connection is closed.
    lock: replace_lock::SharedLock,
}

impl Inbox {
    /// Opens for writing. Creates a missing database. Never migrates: an older schema is an error.
    pub fn open(database: &Path) -> Result<Self, StoreError> {
        Self::open_with_timeout(database, HOOK_BUSY_MS)
    }

    /// Opens for a hook that may have nothing to write. Never creates a database: `Missing`.
    pub fn open_existing(database: &Path) -> Result<Self, StoreError> {
        if swap::is_swap_pending(database) {
            return Err(StoreError::Busy);
        }
        open::check_application_id(database, open::APPLICATION_ID)?;
        Self::open_short_wait(database)
    }

    /// Like `open`, for work that can also be done later: waits only briefly for another writer.
    pub fn open_short_wait(database: &Path) -> Result<Self, StoreError> {
        Self::open_with_timeout(database, HOOK_NOTE_BUSY_MS)
    }

    fn open_with_timeout(database: &Path, busy_ms: u64) -> Result<Self, StoreError> {
        let pass = replace_lock::SharedLock::acquire(database)?;
        if swap::is_swap_pending(database) {
            return Err(StoreError::Busy);
        }
        let conn = open::open_hook_writer(database, busy_ms)?;
        schema::check_version(&conn)?;
        Ok(Self { conn, path: database.to_owned(), lock: pass })
    }

    /// Records what an agent was shown.
    pub fn record_feedback(&mut self, entries: &[NewFeedback<'_>]) -> Result<(), StoreError> {
        self.write(|w| entries.iter().try_for_each(|entry| w.record_feedback(entry)))
    }

    /// Records that an agent's context was compacted: what it was shown before is gone from it.
    pub fn record_compaction(&mut self, client: &str, session: &str, now: Millis) -> Result<(), StoreError> {
        self.write(|w| w.set_meta(&compaction_key(client, session), &now.0.to_string()))
    }

    /// Records the session that was last cleared in a project, if the project is known.
    pub fn record_cleared(
        &mut self,
        project: &[String],
        client: &str,
        session: &str,
    ) -> Result<(), StoreError> {
        self.write(|w| match w.project_by_keys(project)? {
            Some(project) => w.set_meta(&cleared_key(project), &format!("{client} {session}")),
            None => Ok(()),
        })
    }

    /// Runs `change` as one transaction: it is committed as a whole or not at all.
    pub fn write<T>(
        &mut self,
        change: impl FnOnce(&StoreWriter<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        writer::write(&mut self.conn, change)
    }

    /// Runs `look` on one snapshot. All its queries together may use `own` of CPU time and little
    /// waiting time; after that they fail with `Busy`.
    pub fn read_within<T>(
        &mut self,
        own: Duration,
        look: impl FnOnce(&StoreReader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        open::begin_hook_read(&mut self.conn, own)?;
        let seen = look(&StoreReader(&self.conn));
        open::end_hook_read(&mut self.conn)?;
        seen
    }

    /// Sets how long the next writes wait for another writer.
    pub fn set_busy_wait(&self, wait: Duration) -> Result<(), StoreError> {
        Ok(self.conn.busy_timeout(wait)?)
    }

    /// Whether the write-ahead log is left for the worker, because a checkpoint costs more than the whole hook.
    fn leaves_log(&self) -> bool {
        let log = with_suffix(&self.path, "-wal");
        std::fs::metadata(log).map_or(true, |meta| meta.len() < WAL_LEFT_BYTES_MAX)
    }

    /// Closes at the end of the process. The exit itself releases the connection and its locks; freeing the parsed
    /// schema would be a twelfth of the hook's instructions. Only a large write-ahead log needs a real close.
    pub fn close_at_exit(self) -> Result<(), StoreError> {
        if self.leaves_log() {
            std::mem::forget(self);
            return Ok(());
        }
        self.close()
    }

    /// Closes. A small write-ahead log is left for the worker; a large one is checkpointed here.
    pub fn close(self) -> Result<(), StoreError> {
        let small = self.leaves_log();
        self.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, small)?;
        let closed = self.conn.close().map_err(|(_, e)| e.into());
        drop(self.lock);
        closed
    }
}

fn cleared_key(project: ProjectId) -> String {
    format!("cleared:{}", project.0)
}

fn compaction_key(client: &str, session: &str) -> String {
    format!("compacted:{client}:{session}")
}

impl StoreReader<'_> {
    /// The session that was last cleared in a project, if the client reported one.
    pub fn last_cleared(&self, project: ProjectId) -> Result<Option<SessionId>, StoreError> {
        let noted = self.meta(&cleared_key(project))?;
        let Some((client, session)) = noted.as_deref().and_then(|noted| noted.split_once(' ')) else {
            return Ok(None);
        };
        let session = self.session_of_client(client, &ClientSessionId(session.to_owned()))?;
        Ok(session.map(|session| session.id))
    }

    /// When the session's context was last compacted; 0 if never.
    pub fn last_compaction(&self, client: &str, session: &str) -> Result<Millis, StoreError> {
        let noted = self.meta(&compaction_key(client, session))?;
        Ok(Millis(noted.and_then(|text| text.parse().ok()).unwrap_or(0)))
    }
}
