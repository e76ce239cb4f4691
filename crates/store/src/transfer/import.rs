//! Imports records, each at most once.

use rusqlite::{OptionalExtension, params};

use super::rows::{
    MessageRecord, ObservationRecord, ProjectRecord, PromptRecord, SessionRecord, SummaryRecord,
};
use crate::columns::{
    JsonList, ReadColumn, SqlColumn, id_column, name_column, path_column, state_column, text_column,
};
use crate::observations::content_hash;
use crate::row_values::RowValues;
use crate::{
    RowId, RowKind, SessionStatus, StoreError, StoreReader, StoreWriter, tombstone_for,
    tombstone_for_message, tombstone_for_summary,
};
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::{ObservationId, ProjectId, PublicId, SessionId, SummaryId};
use claude_mem_core::memory::Origin;
use claude_mem_core::project::COMMIT_KEY;

/// The outcome of importing one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowImportOutcome {
    New,
    /// A row with this public id exists.
    AlreadyPresent,
    /// The session has a row with the same content under another id.
    SameContent,
    /// It was forgotten here and is not imported.
    Forgotten,
}

/// Our session, project and import run for a record.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportTarget {
    pub session: Option<SessionId>,
    pub project: Option<ProjectId>,
    pub import_run: i64,
}

impl StoreReader<'_> {
    fn has_row(&self, kind: RowKind, uid: PublicId) -> Result<bool, StoreError> {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {} WHERE uid = ?1)", kind.table());
        let mut found = self.0.prepare_cached(&sql)?;
        Ok(found.query_row([uid.sql()], |row| row.get(0))?)
    }

    /// Whether the row was merged into another one or withdrawn here.
    fn has_successor(&self, uid: PublicId) -> Result<bool, StoreError> {
        Ok(self.0.prepare_cached("SELECT 1 FROM row_successors WHERE old_uid = ?1")?.exists([uid.sql()])?)
    }

    pub fn session_by_uid(&self, uid: PublicId) -> Result<Option<SessionId>, StoreError> {
        let mut found = self.0.prepare_cached("SELECT id FROM sdk_sessions WHERE uid = ?1")?;
        Ok(found.query_row([uid.sql()], |row| row.column(0)).optional()?)
    }

    pub fn project_by_uid(&self, uid: PublicId) -> Result<Option<ProjectId>, StoreError> {
        let mut found = self.0.prepare_cached("SELECT id FROM projects WHERE uid = ?1")?;
        Ok(found.query_row([uid.sql()], |row| row.column(0)).optional()?)
    }

    /// Why a record must not be imported, if so.
    pub(super) fn import_conflict(
        &self,
        kind: RowKind,
        uid: PublicId,
        said: Option<String>,
    ) -> Result<Option<RowImportOutcome>, StoreError> {
        if self.has_row(kind, uid)? || self.has_successor(uid)? {
            return Ok(Some(RowImportOutcome::AlreadyPresent));
        }
        let gone = self.is_tombstone(&format!("uid:{uid}"))?
            || said.map_or(Ok(false), |key| self.is_tombstone(&key))?;
        Ok(gone.then_some(RowImportOutcome::Forgotten))
    }
}

impl StoreWriter<'_> {
    /// Finds the project by its public id, else by any of its keys, else creates it.
    pub fn import_project(&self, record: &ProjectRecord) -> Result<ProjectId, StoreError> {
        if let Some(id) = self.project_by_uid(record.uid)? {
            return Ok(id);
        }
        let names = record.keys.iter().filter(|key| !key.starts_with(COMMIT_KEY));
        let hint = ProjectHint {
            name: record.name.clone(),
            keys: names.cloned().collect(),
            root: String::new(),
            branch: None,
        };
        if let Some(id) = self.join_imported(&hint, record.last_active)? {
            return Ok(id);
        }
        self.tx.execute(
            "INSERT INTO projects (uid, name, root, created_at_epoch, last_active_epoch) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![record.uid.sql(), name_column(&record.name), path_column(&record.root), record.created_at.sql(), record.last_active.sql()],
        )?;
        let id = ProjectId(self.tx.last_insert_rowid());
        hint.keys.iter().try_for_each(|key| self.alias_project(key, id))?;
        Ok(id)
    }

    /// Finds the session by its public id or its client's id, or creates it. Existing values stay;
    /// only missing ones are filled in.
    pub fn import_session(
        &self,
        record: &SessionRecord,
        project: Option<ProjectId>,
        run: i64,
    ) -> Result<(SessionId, RowImportOutcome), StoreError> {
        let known: Option<SessionId> = self
            .tx
            .prepare_cached(
                "SELECT id FROM sdk_sessions WHERE uid = ?1 OR (client = ?2 AND content_session_id = ?3)",
            )?
            .query_row(
                params![record.uid.sql(), name_column(&record.client), id_column(&record.client_session)],
                |row| row.column(0),
            )
            .optional()?;
        if let Some(id) = known {
            self.tx
                .prepare_cached(
                    "UPDATE sdk_sessions SET project_id = coalesce(project_id, ?2), branch = coalesce(branch, ?3),
                       user_prompt = coalesce(user_prompt, ?4),
                       transcript_closed = max(transcript_closed, ?5) WHERE id = ?1",
                )?
                .execute(params![
                    id.sql(),
                    project.sql(),
                    record.branch.as_deref().map(name_column),
                    record.user_prompt.as_deref().map(text_column),
                    record.transcript_closed
                ])?;
            self.import_session_files(id, project, record)?;
            return Ok((id, RowImportOutcome::AlreadyPresent));
        }
        // An imported session is not running here; if it is resumed, its hooks will say so.
        let status = match record.status {
            None | Some(SessionStatus::Active) => SessionStatus::Interrupted,
            Some(status) => status,
        };
        self.tx
            .prepare_cached(
                "INSERT INTO sdk_sessions (uid, client, content_session_id, project_id, branch, transcript_path,
                   transcript_closed, user_prompt, status, origin, prompt_counter, carry, rolling_summary, import_run,
                   created_at_epoch, last_activity_epoch, completed_at_epoch)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
            )?
            .execute(params![
                record.uid.sql(),
                name_column(&record.client),
                id_column(&record.client_session),
                project.sql(),
                record.branch.as_deref().map(name_column),
                record.transcript_path.as_deref().map(path_column),
                record.transcript_closed,
                record.user_prompt.as_deref().map(text_column),
                status.as_str(),
                origin_or_import(record.origin),
                record.prompt_counter,
                record.carry.as_deref().map(state_column),
                record.rolling_summary.as_deref().map(text_column),
                run,
                record.created_at.sql(),
                record.last_activity.max(record.created_at).sql(),
                record.completed_at.sql()
            ])?;
        let id = SessionId(self.tx.last_insert_rowid());
        self.import_session_files(id, project, record)?;
        Ok((id, RowImportOutcome::New))
    }

    fn import_session_files(
        &self,
        session: SessionId,
        project: Option<ProjectId>,
        record: &SessionRecord,
    ) -> Result<(), StoreError> {
        for (files, edited) in [(&record.files_read, false), (&record.files_edited, true)] {
            for path in files {
                self.record_session_file(session, project, path, edited)?;
            }
        }
        Ok(())
    }

    /// Imports a prompt.
    pub fn import_prompt(
        &self,
        record: &PromptRecord,
        session: SessionId,
        at: ImportTarget,
    ) -> Result<RowImportOutcome, StoreError> {
        let said = (!record.private).then(|| tombstone_for("", &record.text));
        if let Some(way) = self.import_conflict(RowKind::Prompt, record.uid, said)? {
            return Ok(way);
        }
        if self.has_same_prompt(session, record)? {
            return Ok(RowImportOutcome::SameContent);
        }
        self.tx
            .prepare_cached(
                "INSERT INTO user_prompts (uid, session_id, project_id, prompt_number, prompt_id, prompt_text, private,
                   origin, import_run, created_at_epoch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                record.uid.sql(),
                session.sql(),
                at.project.sql(),
                record.prompt_number,
                record.prompt_id.as_deref().map(id_column),
                text_column(&record.text),
                record.private,
                record.origin.unwrap_or(Origin::User).as_str(),
                at.import_run,
                record.created_at.sql()
            ])?;
        let id = self.tx.last_insert_rowid();
        self.tx
            .prepare_cached(
                "UPDATE sdk_sessions SET prompt_counter = max(prompt_counter, ?2),
                   last_activity_epoch = max(last_activity_epoch, ?3),
                   user_prompt = coalesce(user_prompt, nullif(?4, '')) WHERE id = ?1",
            )?
            .execute(params![
                session.sql(),
                record.prompt_number,
                record.created_at.sql(),
                crate::prompts::first_line(&record.text)
            ])?;
        if !record.private && !record.text.trim().is_empty() {
            self.reindex_row(RowId::new(RowKind::Prompt, id))?;
        }
        Ok(RowImportOutcome::New)
    }

    /// Whether the session has this text in the same turn, or a prompt with the same client id.
    fn has_same_prompt(&self, session: SessionId, record: &PromptRecord) -> Result<bool, StoreError> {
        Ok(self
            .tx
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM user_prompts WHERE session_id = ?1
                 AND (prompt_id = ?2 OR (prompt_number = ?3 AND prompt_text = ?4)))",
            )?
            .query_row(
                params![
                    session.sql(),
                    record.prompt_id.as_deref().map(id_column),
                    record.prompt_number,
                    record.text
                ],
                |row| row.get(0),
            )?)
    }

    /// Imports a final message.
    pub fn import_message(
        &self,
        record: &MessageRecord,
        session: SessionId,
        at: ImportTarget,
    ) -> Result<RowImportOutcome, StoreError> {
        let said = Some(tombstone_for_message(&record.text));
        if let Some(way) = self.import_conflict(RowKind::Message, record.uid, said)? {
            return Ok(way);
        }
        let same: bool = self
            .tx
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM final_messages
                 WHERE session_id = ?1 AND prompt_number = ?2 AND message_text = ?3)",
            )?
            .query_row(params![session.sql(), record.prompt_number, record.text], |row| row.get(0))?;
        if same {
            return Ok(RowImportOutcome::SameContent);
        }
        self.tx
            .prepare_cached(
                "INSERT INTO final_messages (uid, session_id, project_id, prompt_number, message_text, agent_id,
                   agent_type, origin, import_run, created_at_epoch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                record.uid.sql(),
                session.sql(),
                at.project.sql(),
                record.prompt_number,
                text_column(&record.text),
                record.agent_id.as_deref().map(id_column),
                record.agent_type.as_deref().map(name_column),
                origin_or_import(record.origin),
                at.import_run,
                record.created_at.sql()
            ])?;
        self.reindex_row(RowId::new(RowKind::Message, self.tx.last_insert_rowid()))?;
        Ok(RowImportOutcome::New)
    }

    /// Imports an observation.
    pub fn import_observation(
        &self,
        record: &ObservationRecord,
        at: ImportTarget,
    ) -> Result<RowImportOutcome, StoreError> {
        let said = Some(tombstone_for(&record.text.title, &record.text.narrative));
        if let Some(way) = self.import_conflict(RowKind::Observation, record.uid, said)? {
            return Ok(way);
        }
        let hash = content_hash(at.session, &record.text);
        if self.has_same_observation(&hash, record)? {
            return Ok(RowImportOutcome::SameContent);
        }
        let id = RowValues::from_text(&record.text)
            .set("uid", record.uid.sql())
            .set("session_id", at.session.sql())
            .set("project_id", at.project.sql())
            .set("level", record.level.as_str())
            .set("prompt_number", record.prompt_number)
            .set("branch", record.branch.as_deref().map(name_column))
            .set("agent_id", record.agent_id.as_deref().map(id_column))
            .set("agent_type", record.agent_type.as_deref().map(name_column))
            .set("origin", origin_or_import(record.origin))
            .set("made_by", name_column(&record.made_by))
            .set("content_hash", hash)
            .set("discovery_tokens", record.discovery_tokens)
            .set("read_tokens", known_or(record.read_tokens, || record.text.read_tokens()))
            .set("pinned", record.pinned)
            .set("wrong", record.wrong)
            .set("import_run", at.import_run)
            .set("created_at_epoch", record.created_at.sql())
            .set("updated_at_epoch", record.updated_at.max(record.created_at).sql())
            .set("edited", record.edited)
            .insert(self.tx, RowKind::Observation.table())?;
        self.index_observation(ObservationId(id))?;
        Ok(RowImportOutcome::New)
    }

    /// Whether the session has exactly this observation. Outside sessions, two notes with the same
    /// text are distinct unless their times are equal.
    fn has_same_observation(&self, hash: &str, record: &ObservationRecord) -> Result<bool, StoreError> {
        Ok(self
            .tx
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM observations WHERE content_hash = ?1 AND facts = ?2 AND subtitle = ?3
                 AND (session_id IS NOT NULL OR created_at_epoch = ?4))",
            )?
            .query_row(
                params![
                    hash,
                    JsonList(record.text.facts.clone()),
                    text_column(&record.text.subtitle),
                    record.created_at.sql()
                ],
                |row| row.get(0),
            )?)
    }

    /// Marks `older` as replaced by `newer`, if both exist.
    pub fn import_replacement(&self, older: PublicId, newer: PublicId) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "UPDATE observations SET replaced_by = (SELECT id FROM observations WHERE uid = ?2)
                 WHERE uid = ?1 AND replaced_by IS NULL",
            )?
            .execute(params![older.sql(), newer.sql()])?;
        Ok(())
    }

    /// Imports a summary.
    pub fn import_summary(
        &self,
        record: &SummaryRecord,
        session: SessionId,
        at: ImportTarget,
    ) -> Result<RowImportOutcome, StoreError> {
        let said = Some(tombstone_for_summary(&record.text));
        if let Some(way) = self.import_conflict(RowKind::Summary, record.uid, said)? {
            return Ok(way);
        }
        if self.has_same_summary(session, record)? {
            return Ok(RowImportOutcome::SameContent);
        }
        let id = RowValues::from_text(&record.text)
            .set("uid", record.uid.sql())
            .set("session_id", session.sql())
            .set("project_id", at.project.sql())
            .set("prompt_number", record.prompt_number)
            .set("branch", record.branch.as_deref().map(name_column))
            .set("origin", origin_or_import(record.origin))
            .set("made_by", name_column(&record.made_by))
            .set("discovery_tokens", record.discovery_tokens)
            .set("read_tokens", known_or(record.read_tokens, || record.text.read_tokens()))
            .set("import_run", at.import_run)
            .set("created_at_epoch", record.created_at.sql())
            .insert(self.tx, RowKind::Summary.table())?;
        self.index_summary(SummaryId(id))?;
        Ok(RowImportOutcome::New)
    }

    fn has_same_summary(&self, session: SessionId, new: &SummaryRecord) -> Result<bool, StoreError> {
        Ok(self
            .tx
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM session_summaries WHERE session_id = ?1 AND request = ?2
                 AND learned = ?3 AND completed = ?4 AND next_steps = ?5 AND investigated = ?6)",
            )?
            .query_row(
                params![
                    session.sql(),
                    text_column(&new.text.request),
                    text_column(&new.text.learned),
                    text_column(&new.text.completed),
                    text_column(&new.text.next_steps),
                    text_column(&new.text.investigated)
                ],
                |row| row.get(0),
            )?)
    }

    /// Imports a tombstone: what was forgotten elsewhere is not imported here either.
    pub fn import_tombstone(&self, key: &str, now: Millis) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO tombstones (key, created_at_epoch) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            )?
            .execute(params![name_column(key), now.sql()])?;
        Ok(())
    }
}

/// The count of a record, or our own if it has none: agents rely on it.
fn known_or(count: u32, own: impl FnOnce() -> u32) -> u32 {
    if count == 0 { own() } else { count }
}

fn origin_or_import(origin: Option<Origin>) -> &'static str {
    origin.unwrap_or(Origin::Import).as_str()
}
