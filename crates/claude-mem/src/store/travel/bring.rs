//! Rows from elsewhere become ours, each once.

use rusqlite::{OptionalExtension, params};

use super::rows::{
    MessageRecord, ObservationRecord, ProjectRecord, PromptRecord, SessionRecord, SummaryRecord,
};
use crate::clock::Millis;
use crate::hook::event::ProjectHint;
use crate::ids::{ObservationId, ProjectId, PublicId, SessionId, SummaryId};
use crate::memory::Origin;
use crate::store::filter::List;
use crate::store::observations::content_hash;
use crate::store::{
    Reads, RowKind, SessionStatus, StoreError, Writes, tombstone_for, tombstone_for_message,
    tombstone_for_summary,
};
use crate::tokens;

/// What became of a row that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brought {
    New,
    /// A row of this public id is here already.
    Known,
    /// It is here under another name: the session says the same already.
    Same,
    /// It was forgotten, and stays so.
    Forgotten,
}

/// Where a row that comes belongs among ours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Placed {
    pub session: Option<SessionId>,
    pub project: Option<ProjectId>,
    pub run: i64,
}

/// What reading it takes. A document may leave it out; agents go by it, so it is counted then.
fn counted(told: u32, texts: &[&String]) -> u32 {
    match told {
        0 => texts.iter().map(|text| tokens::estimate(text)).sum(),
        told => told,
    }
}

fn read_tokens(record: &ObservationRecord) -> u32 {
    let facts = record.facts.join("\n");
    let texts = [&record.title, &record.subtitle, &record.narrative, &facts];
    counted(record.read_tokens, &texts)
}

impl Reads<'_> {
    fn has_row(&self, kind: RowKind, uid: PublicId) -> Result<bool, StoreError> {
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM {} WHERE uid = ?1)",
            kind.table()
        );
        let mut found = self.0.prepare_cached(&sql)?;
        Ok(found.query_row([uid], |row| row.get(0))?)
    }

    pub fn session_by_uid(&self, uid: PublicId) -> Result<Option<SessionId>, StoreError> {
        let mut found = self
            .0
            .prepare_cached("SELECT id FROM sdk_sessions WHERE uid = ?1")?;
        Ok(found.query_row([uid], |row| row.get(0)).optional()?)
    }

    pub fn project_by_uid(&self, uid: PublicId) -> Result<Option<ProjectId>, StoreError> {
        let mut found = self
            .0
            .prepare_cached("SELECT id FROM projects WHERE uid = ?1")?;
        Ok(found.query_row([uid], |row| row.get(0)).optional()?)
    }

    /// What stands in the way of bringing a row in.
    fn in_the_way(
        &self,
        kind: RowKind,
        uid: PublicId,
        said: Option<String>,
    ) -> Result<Option<Brought>, StoreError> {
        if self.has_row(kind, uid)? {
            return Ok(Some(Brought::Known));
        }
        let gone = self.is_tombstone(&format!("uid:{uid}"))?
            || said.map_or(Ok(false), |key| self.is_tombstone(&key))?;
        Ok(gone.then_some(Brought::Forgotten))
    }
}

impl Writes<'_> {
    /// Finds the project by its public id, else by any of its names; makes it if there is none.
    pub fn bring_project(&self, record: &ProjectRecord) -> Result<ProjectId, StoreError> {
        if let Some(id) = self.project_by_uid(record.uid)? {
            return Ok(id);
        }
        let hint = ProjectHint {
            name: record.name.clone(),
            keys: record.keys.clone(),
            root: String::new(),
            branch: None,
        };
        if self.project_by_keys(&record.keys)?.is_some() {
            return self.ensure_project(&hint, record.last_active);
        }
        self.tx.execute(
            "INSERT INTO projects (uid, name, root, created_at_epoch, last_active_epoch) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![record.uid, record.name, record.root, record.created_at, record.last_active],
        )?;
        let id = ProjectId(self.tx.last_insert_rowid());
        record
            .keys
            .iter()
            .try_for_each(|key| self.alias_project(key, id))?;
        Ok(id)
    }

    /// Finds the session by its public id or by its client's, or makes it. What is known of it
    /// here stays; it is only filled in.
    pub fn bring_session(
        &self,
        record: &SessionRecord,
        project: Option<ProjectId>,
        run: i64,
    ) -> Result<(SessionId, Brought), StoreError> {
        let known: Option<SessionId> = self
            .tx
            .prepare_cached(
                "SELECT id FROM sdk_sessions WHERE uid = ?1 OR (client = ?2 AND content_session_id = ?3)",
            )?
            .query_row(
                params![record.uid, record.client, record.client_session],
                |row| row.get(0),
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
                    id,
                    project,
                    record.branch,
                    record.user_prompt,
                    record.transcript_closed
                ])?;
            return Ok((id, Brought::Known));
        }
        // Nobody goes on with it at this moment; if somebody does, their hooks say so.
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
                record.uid,
                record.client,
                record.client_session,
                project,
                record.branch,
                record.transcript_path,
                record.transcript_closed,
                record.user_prompt,
                status.as_str(),
                said_by(record.origin),
                record.prompt_counter,
                record.carry,
                record.rolling_summary,
                run,
                record.created_at,
                record.last_activity.max(record.created_at),
                record.completed_at
            ])?;
        Ok((SessionId(self.tx.last_insert_rowid()), Brought::New))
    }

    pub fn bring_prompt(
        &self,
        record: &PromptRecord,
        session: SessionId,
        at: Placed,
    ) -> Result<Brought, StoreError> {
        let said = (!record.private).then(|| tombstone_for("", &record.text));
        if let Some(way) = self.in_the_way(RowKind::Prompt, record.uid, said)? {
            return Ok(way);
        }
        if self.has_said(session, record)? {
            return Ok(Brought::Same);
        }
        self.tx
            .prepare_cached(
                "INSERT INTO user_prompts (uid, session_id, project_id, prompt_number, prompt_id, prompt_text, private,
                   origin, import_run, created_at_epoch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                record.uid,
                session,
                at.project,
                record.prompt_number,
                record.prompt_id,
                record.text,
                record.private,
                record.origin.unwrap_or(Origin::User).as_str(),
                at.run,
                record.created_at
            ])?;
        let id = self.tx.last_insert_rowid();
        self.tx
            .prepare_cached(
                "UPDATE sdk_sessions SET prompt_counter = max(prompt_counter, ?2),
                   last_activity_epoch = max(last_activity_epoch, ?3),
                   user_prompt = coalesce(user_prompt, nullif(?4, '')) WHERE id = ?1",
            )?
            .execute(params![
                session,
                record.prompt_number,
                record.created_at,
                crate::store::prompts::first_line(&record.text)
            ])?;
        if !record.private && !record.text.trim().is_empty() {
            self.index_row(RowKind::Prompt, id)?;
        }
        Ok(Brought::New)
    }

    /// The same words in the same turn, or under the same id of the client's.
    fn has_said(&self, session: SessionId, record: &PromptRecord) -> Result<bool, StoreError> {
        Ok(self
            .tx
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM user_prompts WHERE session_id = ?1
                 AND (prompt_id = ?2 OR (prompt_number = ?3 AND prompt_text = ?4)))",
            )?
            .query_row(
                params![session, record.prompt_id, record.prompt_number, record.text],
                |row| row.get(0),
            )?)
    }

    pub fn bring_message(
        &self,
        record: &MessageRecord,
        session: SessionId,
        at: Placed,
    ) -> Result<Brought, StoreError> {
        let said = Some(tombstone_for_message(&record.text));
        if let Some(way) = self.in_the_way(RowKind::Message, record.uid, said)? {
            return Ok(way);
        }
        let same: bool = self
            .tx
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM final_messages
                 WHERE session_id = ?1 AND prompt_number = ?2 AND message_text = ?3)",
            )?
            .query_row(params![session, record.prompt_number, record.text], |row| {
                row.get(0)
            })?;
        if same {
            return Ok(Brought::Same);
        }
        self.tx
            .prepare_cached(
                "INSERT INTO final_messages (uid, session_id, project_id, prompt_number, message_text, agent_id,
                   agent_type, origin, import_run, created_at_epoch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                record.uid,
                session,
                at.project,
                record.prompt_number,
                record.text,
                record.agent_id,
                record.agent_type,
                said_by(record.origin),
                at.run,
                record.created_at
            ])?;
        self.index_row(RowKind::Message, self.tx.last_insert_rowid())?;
        Ok(Brought::New)
    }

    pub fn bring_observation(
        &self,
        record: &ObservationRecord,
        at: Placed,
    ) -> Result<Brought, StoreError> {
        let said = Some(tombstone_for(&record.title, &record.narrative));
        if let Some(way) = self.in_the_way(RowKind::Observation, record.uid, said)? {
            return Ok(way);
        }
        let hash = content_hash(at.session, &record.title, &record.narrative);
        if self.has_told(&hash, record)? {
            return Ok(Brought::Same);
        }
        self.tx
            .prepare_cached(
                "INSERT INTO observations (uid, session_id, project_id, level, prompt_number, type, title, subtitle,
                   narrative, facts, concepts, files_read, files_modified, branch, agent_id, agent_type, origin, made_by,
                   content_hash, discovery_tokens, read_tokens, pinned, wrong, import_run, created_at_epoch,
                   updated_at_epoch)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
                   ?22, ?23, ?24, ?25, ?26)",
            )?
            .execute(params![
                record.uid,
                at.session,
                at.project,
                record.level.as_str(),
                record.prompt_number,
                record.kind.as_str(),
                record.title,
                record.subtitle,
                record.narrative,
                List(record.facts.clone()),
                List(record.concepts.clone()),
                List(record.files_read.clone()),
                List(record.files_modified.clone()),
                record.branch,
                record.agent_id,
                record.agent_type,
                said_by(record.origin),
                record.made_by,
                hash,
                record.discovery_tokens,
                read_tokens(record),
                record.pinned,
                record.wrong,
                at.run,
                record.created_at,
                record.updated_at.max(record.created_at)
            ])?;
        self.index_observation(ObservationId(self.tx.last_insert_rowid()))?;
        Ok(Brought::New)
    }

    /// The session has told exactly this. Outside of sessions, two notes of different times may
    /// well say the same.
    fn has_told(&self, hash: &str, record: &ObservationRecord) -> Result<bool, StoreError> {
        Ok(self
            .tx
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM observations WHERE content_hash = ?1 AND facts = ?2 AND subtitle = ?3
                 AND (session_id IS NOT NULL OR created_at_epoch = ?4))",
            )?
            .query_row(
                params![
                    hash,
                    List(record.facts.clone()),
                    record.subtitle,
                    record.created_at
                ],
                |row| row.get(0),
            )?)
    }

    /// `older` was replaced by `newer`, where both are here.
    pub fn bring_replacement(&self, older: PublicId, newer: PublicId) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "UPDATE observations SET replaced_by = (SELECT id FROM observations WHERE uid = ?2)
                 WHERE uid = ?1 AND replaced_by IS NULL",
            )?
            .execute(params![older, newer])?;
        Ok(())
    }

    pub fn bring_summary(
        &self,
        record: &SummaryRecord,
        session: SessionId,
        at: Placed,
    ) -> Result<Brought, StoreError> {
        let said = Some(tombstone_for_summary([
            &record.request,
            &record.investigated,
            &record.learned,
            &record.completed,
            &record.next_steps,
            &record.notes,
        ]));
        if let Some(way) = self.in_the_way(RowKind::Summary, record.uid, said)? {
            return Ok(way);
        }
        if self.has_summed_up(session, record)? {
            return Ok(Brought::Same);
        }
        self.tx
            .prepare_cached(
                "INSERT INTO session_summaries (uid, session_id, project_id, prompt_number, request, investigated,
                   learned, completed, next_steps, notes, files_read, files_edited, branch, origin, made_by,
                   discovery_tokens, read_tokens, import_run, created_at_epoch)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
            )?
            .execute(params![
                record.uid,
                session,
                at.project,
                record.prompt_number,
                record.request,
                record.investigated,
                record.learned,
                record.completed,
                record.next_steps,
                record.notes,
                List(record.files_read.clone()),
                List(record.files_edited.clone()),
                record.branch,
                said_by(record.origin),
                record.made_by,
                record.discovery_tokens,
                counted(record.read_tokens, &[&record.request, &record.investigated, &record.learned,
                    &record.completed, &record.next_steps, &record.notes]),
                at.run,
                record.created_at
            ])?;
        self.index_summary(SummaryId(self.tx.last_insert_rowid()))?;
        Ok(Brought::New)
    }

    fn has_summed_up(&self, session: SessionId, new: &SummaryRecord) -> Result<bool, StoreError> {
        Ok(self
            .tx
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM session_summaries WHERE session_id = ?1 AND request = ?2
                 AND learned = ?3 AND completed = ?4 AND next_steps = ?5 AND investigated = ?6)",
            )?
            .query_row(
                params![
                    session,
                    new.request,
                    new.learned,
                    new.completed,
                    new.next_steps,
                    new.investigated
                ],
                |row| row.get(0),
            )?)
    }

    /// What was forgotten elsewhere is not brought in here either.
    pub fn bring_tombstone(&self, key: &str, now: Millis) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO tombstones (key, created_at_epoch) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            )?
            .execute(params![key, now])?;
        Ok(())
    }
}

fn said_by(origin: Option<Origin>) -> &'static str {
    origin.unwrap_or(Origin::Import).as_str()
}
