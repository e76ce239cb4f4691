//! What the person said, word for word, less what was private.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{Filter, Page, Paged, Reads, RowKind, StoreError, Writes};
use crate::clock::Millis;
use crate::ids::{ProjectId, PromptId, PublicId, SessionId};
use crate::memory::Origin;

#[derive(Clone, Debug)]
pub struct NewPrompt<'a> {
    pub session: SessionId,
    pub project: Option<ProjectId>,
    pub prompt_id: Option<&'a str>,
    pub text: &'a str,
    pub private: bool,
    pub origin: Origin,
    pub import_run: Option<i64>,
    pub at: Millis,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromptRow {
    pub id: PromptId,
    pub session: SessionId,
    pub project: Option<ProjectId>,
    pub number: u32,
    pub text: String,
    pub private: bool,
    pub created_at: Millis,
    pub origin: Origin,
}

const COLUMNS: &str = "SELECT id, session_id, project_id, prompt_number, prompt_text, private, created_at_epoch, origin FROM user_prompts";

fn prompt(row: &Row<'_>) -> rusqlite::Result<PromptRow> {
    Ok(PromptRow {
        id: row.get(0)?,
        session: row.get(1)?,
        project: row.get(2)?,
        number: row.get(3)?,
        text: row.get(4)?,
        private: row.get(5)?,
        created_at: row.get(6)?,
        origin: Origin::from_name(row.get_ref(7)?.as_str()?).unwrap_or(Origin::Import),
    })
}

impl Reads<'_> {
    pub fn prompt(&self, id: PromptId) -> Result<PromptRow, StoreError> {
        let found = self
            .0
            .prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?
            .query_row([id], prompt)
            .optional()?;
        found.ok_or(StoreError::NoSuchRow {
            what: "prompt",
            id: id.0,
        })
    }

    pub fn prompts(&self, filter: &Filter, page: Page) -> Result<Paged<PromptRow>, StoreError> {
        let mut clause = filter.common();
        let sql = filter.page(COLUMNS, RowKind::Prompt.table(), &mut clause, page);
        let mut rows = self.0.prepare_cached(&sql)?;
        let rows = rows.query_map(rusqlite::params_from_iter(clause.values()), prompt)?;
        Ok(Paged::cut(rows.collect::<Result<_, _>>()?, page))
    }

    /// The last thing that the person said in this session, unless that was private.
    pub fn newest_prompt(&self, session: SessionId) -> Result<Option<PromptRow>, StoreError> {
        let sql =
            format!("{COLUMNS} WHERE session_id = ?1 ORDER BY prompt_number DESC, id DESC LIMIT 1");
        let newest = self
            .0
            .prepare_cached(&sql)?
            .query_row([session], prompt)
            .optional()?;
        Ok(newest.filter(|prompt| !prompt.private))
    }

    /// The number of the turn that the client calls `prompt_id`.
    pub fn prompt_number(
        &self,
        session: SessionId,
        prompt_id: &str,
    ) -> Result<Option<u32>, StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT prompt_number FROM user_prompts WHERE session_id = ?1 AND prompt_id = ?2",
            )?
            .query_row(params![session, prompt_id], |row| row.get(0))
            .optional()?)
    }

    /// Whether the turn that the client calls `prompt_id` was private.
    pub fn prompt_is_private(
        &self,
        session: SessionId,
        prompt_id: &str,
    ) -> Result<Option<bool>, StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT private FROM user_prompts WHERE session_id = ?1 AND prompt_id = ?2",
            )?
            .query_row(params![session, prompt_id], |row| row.get(0))
            .optional()?)
    }
}

impl Writes<'_> {
    /// Numbers the prompt within its session and names the session by its first one.
    pub fn create_prompt(&self, new: &NewPrompt<'_>) -> Result<(PromptId, u32), StoreError> {
        // Not RETURNING: it makes a table of its own for the one number, for every prompt.
        self.tx
            .prepare_cached(
                "UPDATE sdk_sessions SET prompt_counter = prompt_counter + 1,
                   user_prompt = coalesce(user_prompt, nullif(?2, '')),
                   last_activity_epoch = max(last_activity_epoch, ?3),
                   status = CASE WHEN status = 'ignored' THEN status ELSE 'active' END,
                   completed_at_epoch = NULL
                 WHERE id = ?1",
            )?
            .execute(params![new.session, first_line(new.text), new.at])?;
        let number = self.session(new.session)?.prompt_counter;
        self.tx
            .prepare_cached(
                "INSERT INTO user_prompts (uid, session_id, project_id, prompt_number, prompt_id, prompt_text, private,
                   origin, import_run, created_at_epoch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                PublicId::new(),
                new.session,
                new.project,
                number,
                new.prompt_id,
                new.text,
                new.private,
                new.origin.as_str(),
                new.import_run,
                new.at
            ])?;
        let id = PromptId(self.tx.last_insert_rowid());
        if !new.private && !new.text.trim().is_empty() {
            self.index_row(RowKind::Prompt, id.0)?;
        }
        Ok((id, number))
    }

    /// A prompt that is counted and not kept: it was forgotten.
    pub fn pass_prompt(&self, session: SessionId, at: Millis) -> Result<u32, StoreError> {
        Ok(self
            .tx
            .prepare_cached(
                "UPDATE sdk_sessions SET prompt_counter = prompt_counter + 1,
                   last_activity_epoch = max(last_activity_epoch, ?2) WHERE id = ?1 RETURNING prompt_counter",
            )?
            .query_row(params![session, at], |row| row.get(0))?)
    }

    /// Some raw prompts older than `before` go; what was distilled from them stays. To be called
    /// until fewer go than it may.
    pub fn delete_prompts_before(
        &self,
        before: Millis,
        rows_max: u32,
    ) -> Result<usize, StoreError> {
        let mut delete = self.tx.prepare_cached(
            "DELETE FROM user_prompts WHERE id IN (SELECT id FROM user_prompts WHERE created_at_epoch < ?1 LIMIT ?2)
             RETURNING session_id",
        )?;
        let gone = delete.query_map(params![before, rows_max], |row| row.get(0))?;
        let mut sessions = gone.collect::<Result<Vec<SessionId>, _>>()?;
        let prompts = sessions.len();
        sessions.sort_unstable_by_key(|session| session.0);
        sessions.dedup();
        sessions
            .into_iter()
            .try_for_each(|session| self.name_session(session))?;
        Ok(prompts)
    }

    /// Of some sessions that ended before `before` and have no prompt left, what else holds a
    /// person's words goes too.
    pub fn unname_sessions_before(
        &self,
        before: Millis,
        rows_max: u32,
    ) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "UPDATE sdk_sessions SET user_prompt = NULL, carry = NULL, rolling_summary = NULL WHERE id IN (
               SELECT s.id FROM sdk_sessions AS s WHERE s.last_activity_epoch < ?1
               AND coalesce(s.user_prompt, s.carry, s.rolling_summary) IS NOT NULL
               AND NOT EXISTS (SELECT 1 FROM user_prompts AS p WHERE p.session_id = s.id) LIMIT ?2)",
            params![before, rows_max],
        )?)
    }

    /// Names the session by the first of its prompts that is there.
    pub(super) fn name_session(&self, session: SessionId) -> Result<(), StoreError> {
        let first: Option<String> = self
            .tx
            .prepare_cached(
                "SELECT prompt_text FROM user_prompts WHERE session_id = ?1 AND trim(prompt_text) <> ''
                 ORDER BY prompt_number, id LIMIT 1",
            )?
            .query_row([session], |row| row.get(0))
            .optional()?;
        let name = first.map(|text| first_line(&text));
        self.tx
            .prepare_cached("UPDATE sdk_sessions SET user_prompt = nullif(?2, '') WHERE id = ?1")?
            .execute(params![session, name])?;
        Ok(())
    }
}

pub(super) fn first_line(text: &str) -> String {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .chars()
        .take(200)
        .collect()
}
