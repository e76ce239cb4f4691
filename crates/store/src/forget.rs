//! Forgetting rows: gone from all reads at once, restorable for a while, and never re-imported.
//!
//! A forgotten row moves to the `forgotten` table until it is purged. Its tombstones, which hold no
//! text, stay and keep imports from bringing it back.

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{RowId, RowKind, StoreError, StoreReader, StoreWriter};
use crate::columns::SqlColumn;
use crate::documents::DocumentFields;
use crate::forgotten_sources::ForgottenSources;
use crate::json_column::{as_json, as_sql};
use claude_mem_core::clock::Millis;
use claude_mem_core::event_key::hex;
use claude_mem_core::ids::{
    AccountId, FinalMessageId, ObservationId, ProjectId, PromptId, SessionId, SummaryId,
};
use claude_mem_core::memory::SummaryText;

/// All columns of a row, whatever the schema, so that it can be restored exactly.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ForgottenBody {
    columns: Vec<(String, serde_json::Value)>,
    /// The public id of its session: the session's row id may be reused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The claims it was made from, and what was made from these.
    #[serde(default, skip_serializing_if = "ForgottenSources::is_empty")]
    sources: ForgottenSources,
    /// The observations that it had replaced: they count as current while it is forgotten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replaces: Vec<ObservationId>,
}

impl ForgottenBody {
    fn value(&self, name: &str) -> Option<&serde_json::Value> {
        let found = self.columns.iter().find(|(column, _)| column == name);
        found.map(|(_, value)| value).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.value(name)?.as_str()
    }

    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.value(name)?.as_i64()
    }

    fn clear(&mut self, name: &str) {
        for (column, value) in &mut self.columns {
            if column == name {
                *value = serde_json::Value::Null;
            }
        }
    }
}

impl StoreReader<'_> {
    /// Whether a row with this key was forgotten and must not be imported.
    pub fn is_tombstone(&self, key: &str) -> Result<bool, StoreError> {
        Ok(self
            .0
            .prepare_cached("SELECT 1 FROM tombstones WHERE key = ?1")?
            .query_row([key], |_| Ok(()))
            .optional()?
            .is_some())
    }

    fn load_whole_row(&self, RowId { kind, row_id }: RowId) -> Result<ForgottenBody, StoreError> {
        let mut statement = self.0.prepare(&format!("SELECT * FROM {} WHERE id = ?1", kind.table()))?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let found = statement
            .query_row([row_id], |row| {
                let mut columns = Vec::with_capacity(names.len());
                for (at, name) in names.iter().enumerate() {
                    columns.push((name.clone(), as_json(row.get_ref(at)?)));
                }
                Ok(ForgottenBody {
                    columns,
                    session: None,
                    sources: ForgottenSources::default(),
                    replaces: Vec::new(),
                })
            })
            .optional()?;
        let mut body = found.ok_or(StoreError::NoSuchRow { what: kind.as_str(), id: row_id })?;
        if let Some(session) = body.number("session_id") {
            body.session = self.uid_in("sdk_sessions", session)?;
        }
        Ok(body)
    }

    fn uid_in(&self, table: &str, id: i64) -> Result<Option<String>, StoreError> {
        let sql = format!("SELECT uid FROM {table} WHERE id = ?1");
        let mut found = self.0.prepare_cached(&sql)?;
        Ok(found.query_row([id], |row| row.get(0)).optional()?)
    }
}

impl StoreWriter<'_> {
    /// Removes the row from its table and all indexes and keeps a copy for
    /// [`StoreWriter::undo_forget`]. Its text is overwritten in the pages that held it, and state
    /// derived from it is cleared from the session.
    pub fn forget(&self, row: RowId, now: Millis) -> Result<(), StoreError> {
        let RowId { kind, row_id } = row;
        let mut body = self.load_whole_row(row)?;
        body.sources = self.forget_sources(row, now)?;
        if kind == RowKind::Observation {
            body.replaces = self.observations_replaced_by(ObservationId(row_id))?;
        }
        for key in tombstone_keys(&body) {
            self.tx.execute(
                "INSERT INTO tombstones (key, created_at_epoch) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                params![key, now.sql()],
            )?;
        }
        self.tx.execute(
            "INSERT INTO forgotten (kind, row_id, body, created_at_epoch) VALUES (?1, ?2, ?3, ?4)",
            params![kind, row_id, serde_json::to_string(&body)?, now.sql()],
        )?;
        self.set_fts_secure_delete(true)?;
        self.tx.execute(&format!("DELETE FROM {} WHERE id = ?1", kind.table()), [row_id])?;
        self.set_fts_secure_delete(false)?;
        self.tx.execute(
            "UPDATE observation_feedback SET reason = '' WHERE kind = ?1 AND row_id = ?2",
            params![kind, row_id],
        )?;
        if let Some(session) = body.number("session_id").map(SessionId) {
            self.clear_session_state(session)?;
        }
        Ok(())
    }

    /// Switches FTS5's `secure-delete`. Without it, the index keeps the terms of a deleted row
    /// until the next merge, and afterwards in free pages. It is too slow for normal writes.
    pub(super) fn set_fts_secure_delete(&self, on: bool) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("INSERT INTO texts_fts(texts_fts, rank) VALUES ('secure-delete', ?1)")?
            .execute([on])?;
        Ok(())
    }

    /// Clears the session's carried state, which may quote the forgotten row, and renames the
    /// session after its first remaining prompt.
    fn clear_session_state(&self, session: SessionId) -> Result<(), StoreError> {
        self.tx.execute(
            "UPDATE sdk_sessions SET carry = NULL, rolling_summary = NULL WHERE id = ?1",
            [session.sql()],
        )?;
        // Subagents have their own carried state, stored with their transcript positions.
        self.tx.execute(
            "UPDATE transcript_positions SET state = json_remove(state, '$.carry') WHERE (client, session) IN
               (SELECT client, content_session_id FROM sdk_sessions WHERE id = ?1)",
            [session.sql()],
        )?;
        self.refresh_session_name(session)
    }

    /// Restores a forgotten row under its old id. False if that is no longer possible: it was
    /// purged, or its project or session is gone.
    pub fn undo_forget(&self, row: RowId) -> Result<bool, StoreError> {
        let RowId { kind, row_id } = row;
        let kept: Option<(i64, String)> = self
            .tx
            .query_row(
                "SELECT id, body FROM forgotten WHERE kind = ?1 AND row_id = ?2 ORDER BY id DESC LIMIT 1",
                params![kind, row_id],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        let Some((id, body)) = kept else {
            return Ok(false);
        };
        let mut body: ForgottenBody = serde_json::from_str(&body)?;
        if !self.resolve_parents(kind, &mut body)? {
            return Ok(false);
        }
        for key in tombstone_keys(&body) {
            self.tx.execute("DELETE FROM tombstones WHERE key = ?1", [key])?;
        }
        self.reinsert_row(kind, &body)?;
        self.tx.execute("DELETE FROM forgotten WHERE id = ?1", [id])?;
        self.reindex_row(row)?;
        self.restore_sources(row, &body.sources)?;
        for replaced in &body.replaces {
            // Unless another memory has replaced it meanwhile.
            self.tx
                .prepare_cached(
                    "UPDATE observations SET replaced_by = ?2 WHERE id = ?1 AND replaced_by IS NULL",
                )?
                .execute(params![replaced.sql(), row_id])?;
        }
        self.record_change(row)?;
        if let (RowKind::Prompt, Some(session)) = (kind, body.number("session_id")) {
            self.refresh_session_name(SessionId(session))?;
        }
        Ok(true)
    }

    /// Checks that the project and session of a forgotten row still exist, and clears references
    /// that the row can do without.
    fn resolve_parents(&self, kind: RowKind, body: &mut ForgottenBody) -> Result<bool, StoreError> {
        for (column, table) in [("import_run", "import_runs"), ("replaced_by", "observations")] {
            if let Some(id) = body.number(column)
                && self.uid_in(table, id)?.is_none()
            {
                body.clear(column);
            }
        }
        if let Some(id) = body.number("project_id")
            && self.uid_in("projects", id)?.is_none()
        {
            return Ok(false);
        }
        let Some(id) = body.number("session_id") else {
            return Ok(true);
        };
        let uid = self.uid_in("sdk_sessions", id)?;
        let is_there = uid.is_some() && (body.session.is_none() || body.session == uid);
        if !is_there {
            body.clear("session_id");
        }
        Ok(is_there || kind == RowKind::Observation)
    }

    /// Purges up to `rows_max` rows that were forgotten before `before`. Call it until it purges
    /// fewer than `rows_max`.
    pub fn purge_forgotten(&self, before: Millis, rows_max: u32) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "DELETE FROM forgotten WHERE id IN (SELECT id FROM forgotten WHERE created_at_epoch < ?1 LIMIT ?2)",
            params![before.sql(), rows_max],
        )?)
    }

    fn reinsert_row(&self, kind: RowKind, body: &ForgottenBody) -> Result<(), StoreError> {
        // The column names come from SQLite itself. Generated columns cannot be written.
        let writable: Vec<&(String, serde_json::Value)> =
            body.columns.iter().filter(|(name, _)| name != "created_at").collect();
        let names: Vec<String> =
            writable.iter().map(|(name, _)| format!("\"{}\"", name.replace('"', "\"\""))).collect();
        let marks = vec!["?"; names.len()].join(", ");
        let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", kind.table(), names.join(", "));
        self.tx.execute(&sql, rusqlite::params_from_iter(writable.iter().map(|(_, value)| as_sql(value))))?;
        Ok(())
    }

    /// Indexes a row's document again.
    pub fn reindex_row(&self, id: RowId) -> Result<(), StoreError> {
        let RowId { kind, row_id } = id;
        match kind {
            RowKind::Observation => self.index_observation(ObservationId(row_id)),
            RowKind::Summary => self.index_summary(SummaryId(row_id)),
            RowKind::Account => self.index_account(AccountId(row_id)),
            RowKind::Prompt => {
                let row = self.prompt(PromptId(row_id))?;
                self.index_plain_text(id, row.project, row.session, row.created_at, &row.text)
            }
            RowKind::Message => {
                let row = self.final_message(FinalMessageId(row_id))?;
                self.index_plain_text(id, row.project, row.session, row.created_at, &row.text)
            }
        }
    }

    fn index_plain_text(
        &self,
        RowId { kind, row_id }: RowId,
        project: Option<ProjectId>,
        session: SessionId,
        at: Millis,
        body: &str,
    ) -> Result<(), StoreError> {
        let (session, title, tags) = (Some(session), "", "");
        self.index_document(&DocumentFields {
            kind,
            row_id,
            project,
            user_level: false,
            session,
            at,
            title,
            body,
            tags,
        })
    }
}

/// The tombstones of a row: its public id, and a hash of its content.
fn tombstone_keys(body: &ForgottenBody) -> Vec<String> {
    let text = |name| body.text(name);
    let said = if let (Some(title), Some(narrative)) = (text("title"), text("narrative")) {
        Some(tombstone_for(title, narrative))
    } else if let Some(prompt) = text("prompt_text") {
        Some(tombstone_for("", prompt))
    } else if let Some(message) = text("message_text") {
        Some(tombstone_for_message(message))
    } else if text("purpose").is_some() {
        // An account is known by its session, not by its words.
        None
    } else {
        let read = |name| text(name).unwrap_or_default().to_owned();
        text("request").map(|_| {
            let summary = SummaryText {
                request: read("request"),
                investigated: read("investigated"),
                learned: read("learned"),
                completed: read("completed"),
                next_steps: read("next_steps"),
                notes: read("notes"),
                ..SummaryText::default()
            };
            tombstone_for_summary(&summary)
        })
    };
    text("uid").map(|uid| format!("uid:{uid}")).into_iter().chain(said).collect()
}

/// The tombstone for this content, whichever session an import claims for it.
pub fn tombstone_for(title: &str, narrative: &str) -> String {
    let mut hash = Sha256::new();
    hash.update((title.len() as u64).to_le_bytes());
    hash.update(title);
    hash.update(narrative);
    format!("said:{}", hex(&hash.finalize()[..16]))
}

/// The tombstone for an agent's message. It does not match a prompt with the same text.
pub fn tombstone_for_message(text: &str) -> String {
    tombstone_for("\0message", text)
}

/// The tombstone for a summary.
pub fn tombstone_for_summary(summary: &SummaryText) -> String {
    tombstone_for("\0summary", &summary.texts().join("\0"))
}
