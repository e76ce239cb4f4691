//! Prompts: what the user typed, verbatim, without private blocks.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{PageRequest, RowFilter, RowId, RowKind, RowPage, StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn, id_column, read_origin, text_column};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ProjectId, PromptId, PublicId, SessionId};
use claude_mem_core::memory::Origin;

/// A prompt to be stored.
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

/// A prompt as stored.
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
        id: row.column(0)?,
        session: row.column(1)?,
        project: row.column(2)?,
        number: row.get(3)?,
        text: row.get(4)?,
        private: row.get(5)?,
        created_at: row.column(6)?,
        origin: read_origin(row, 7)?,
    })
}

impl StoreReader<'_> {
    /// The number of the session's last prompt at a time.
    pub fn prompt_number_at(&self, session: SessionId, at: Millis) -> Result<Option<u32>, StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT prompt_number FROM user_prompts WHERE session_id = ?1 AND created_at_epoch <= ?2
                 ORDER BY prompt_number DESC LIMIT 1",
            )?
            .query_row(params![session.sql(), at.sql()], |row| row.get(0))
            .optional()?)
    }

    pub fn prompt(&self, id: PromptId) -> Result<PromptRow, StoreError> {
        let found = self
            .0
            .prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?
            .query_row([id.sql()], prompt)
            .optional()?;
        found.ok_or(StoreError::NoSuchRow { what: "prompt", id: id.0 })
    }

    pub fn prompts(&self, filter: &RowFilter, page: PageRequest) -> Result<RowPage<PromptRow>, StoreError> {
        let mut clause = filter.base_clause();
        let sql = filter.page_sql(COLUMNS, RowKind::Prompt.table(), &mut clause, page);
        let mut statement = self.0.prepare_cached(&sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(clause.values()), prompt)?;
        Ok(RowPage::from_overfetch(rows.collect::<Result<_, _>>()?, page))
    }

    /// The last prompt of a session, unless that one is private.
    pub fn newest_prompt(&self, session: SessionId) -> Result<Option<PromptRow>, StoreError> {
        let sql = format!("{COLUMNS} WHERE session_id = ?1 ORDER BY prompt_number DESC, id DESC LIMIT 1");
        let newest = self.0.prepare_cached(&sql)?.query_row([session.sql()], prompt).optional()?;
        Ok(newest.filter(|prompt| !prompt.private))
    }

    /// The number of the turn with the client's `prompt_id`.
    pub fn prompt_number(&self, session: SessionId, prompt_id: &str) -> Result<Option<u32>, StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT prompt_number FROM user_prompts WHERE session_id = ?1 AND prompt_id = ?2",
            )?
            .query_row(params![session.sql(), prompt_id], |row| row.get(0))
            .optional()?)
    }
}

impl StoreWriter<'_> {
    /// Stores a prompt, numbers it within its session and names an unnamed session after it.
    pub fn create_prompt(&self, new: &NewPrompt<'_>) -> Result<(PromptId, u32), StoreError> {
        // Not RETURNING: it would create an ephemeral table for a single number, on every prompt.
        self.tx
            .prepare_cached(
                "UPDATE sdk_sessions SET prompt_counter = prompt_counter + 1,
                   user_prompt = coalesce(user_prompt, nullif(?2, '')),
                   last_activity_epoch = max(last_activity_epoch, ?3),
                   status = CASE WHEN status = 'ignored' THEN status ELSE 'active' END,
                   completed_at_epoch = NULL
                 WHERE id = ?1",
            )?
            .execute(params![new.session.sql(), text_column(&first_line(new.text)), new.at.sql()])?;
        let number = self.session(new.session)?.prompt_counter;
        self.tx
            .prepare_cached(
                "INSERT INTO user_prompts (uid, session_id, project_id, prompt_number, prompt_id, prompt_text, private,
                   origin, import_run, created_at_epoch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                PublicId::new().sql(),
                new.session.sql(),
                new.project.sql(),
                number,
                new.prompt_id.map(id_column),
                text_column(new.text),
                new.private,
                new.origin.as_str(),
                new.import_run,
                new.at.sql()
            ])?;
        let id = PromptId(self.tx.last_insert_rowid());
        if !new.private && !new.text.trim().is_empty() {
            self.reindex_row(RowId::new(RowKind::Prompt, id.0))?;
        }
        Ok((id, number))
    }

    /// Counts a prompt without storing it, because it was forgotten. Returns its number.
    pub fn count_skipped_prompt(&self, session: SessionId, at: Millis) -> Result<u32, StoreError> {
        Ok(self
            .tx
            .prepare_cached(
                "UPDATE sdk_sessions SET prompt_counter = prompt_counter + 1,
                   last_activity_epoch = max(last_activity_epoch, ?2) WHERE id = ?1 RETURNING prompt_counter",
            )?
            .query_row(params![session.sql(), at.sql()], |row| row.get(0))?)
    }

    /// Deletes up to `rows_max` prompts from before `before`; memories made from them stay. Call it
    /// until it deletes fewer than `rows_max`.
    pub fn delete_prompts_before(&self, before: Millis, rows_max: u32) -> Result<usize, StoreError> {
        let mut delete = self.tx.prepare_cached(
            "DELETE FROM user_prompts WHERE id IN (SELECT id FROM user_prompts WHERE created_at_epoch < ?1 LIMIT ?2)
             RETURNING session_id",
        )?;
        let gone = delete.query_map(params![before.sql(), rows_max], |row| row.column(0))?;
        let mut sessions = gone.collect::<Result<Vec<SessionId>, _>>()?;
        let prompts = sessions.len();
        sessions.sort_unstable_by_key(|session| session.0);
        sessions.dedup();
        sessions.into_iter().try_for_each(|session| self.refresh_session_name(session))?;
        Ok(prompts)
    }

    /// Clears the user's words from up to `rows_max` sessions that were last active before `before`
    /// and have no prompt left.
    pub fn clear_session_text_before(&self, before: Millis, rows_max: u32) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "UPDATE sdk_sessions SET user_prompt = NULL, carry = NULL, rolling_summary = NULL WHERE id IN (
               SELECT s.id FROM sdk_sessions AS s WHERE s.last_activity_epoch < ?1
               AND coalesce(s.user_prompt, s.carry, s.rolling_summary) IS NOT NULL
               AND NOT EXISTS (SELECT 1 FROM user_prompts AS p WHERE p.session_id = s.id) LIMIT ?2)",
            params![before.sql(), rows_max],
        )?)
    }

    /// Whether a text is the first line of the session's first prompt, possibly cut.
    pub(super) fn is_session_prompt(
        &self,
        session: Option<SessionId>,
        text: &str,
    ) -> Result<bool, StoreError> {
        let Some(session) = session.filter(|_| !text.is_empty()) else {
            return Ok(false);
        };
        let name: Option<Option<String>> = self
            .tx
            .prepare_cached("SELECT user_prompt FROM sdk_sessions WHERE id = ?1")?
            .query_row([session.sql()], |row| row.get(0))
            .optional()?;
        let name = name.flatten().unwrap_or_default();
        let (prompt, text) = (squeezed(&name), squeezed(text));
        let shorter = prompt.len().min(text.len());
        Ok(shorter > 0 && prompt.as_bytes()[..shorter] == text.as_bytes()[..shorter])
    }

    /// Names the session after its first remaining prompt.
    pub(super) fn refresh_session_name(&self, session: SessionId) -> Result<(), StoreError> {
        let first: Option<String> = self
            .tx
            .prepare_cached(
                "SELECT prompt_text FROM user_prompts WHERE session_id = ?1 AND trim(prompt_text) <> ''
                 ORDER BY prompt_number, id LIMIT 1",
            )?
            .query_row([session.sql()], |row| row.get(0))
            .optional()?;
        let name = first.map(|text| first_line(&text));
        self.tx
            .prepare_cached("UPDATE sdk_sessions SET user_prompt = nullif(?2, '') WHERE id = ?1")?
            .execute(params![session.sql(), name.as_deref().map(text_column)])?;
        Ok(())
    }
}

/// Letters and digits only, so that a cut or respaced text can be compared.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The first non-empty line, cut to 200 characters.
pub(super) fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().chars().take(200).collect()
}
