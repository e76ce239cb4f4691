//! Forgetting: gone at once, undone for a while, and never brought back by an import.

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::texts::IndexedText;
use super::{Reads, RowKind, StoreError, Writes};
use crate::clock::Millis;
use crate::hook::key::hex;
use crate::ids::{FinalMessageId, ObservationId, ProjectId, PromptId, SessionId, SummaryId};

/// A forgotten row that can still be brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    pub id: i64,
    pub kind: RowKind,
    pub row_id: i64,
    pub at: Millis,
}

/// Every column of a row, whatever the schema calls them, so that undoing restores it exactly.
#[derive(Debug, Serialize, Deserialize)]
struct Body {
    columns: Vec<(String, serde_json::Value)>,
    /// The public name of its session, whose number may be given to another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
}

impl Body {
    fn value(&self, name: &str) -> Option<&serde_json::Value> {
        let found = self.columns.iter().find(|(column, _)| column == name);
        found
            .map(|(_, value)| value)
            .filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.value(name)?.as_str()
    }

    fn number(&self, name: &str) -> Option<i64> {
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

impl Reads<'_> {
    pub fn forgotten(&self) -> Result<Vec<Forgotten>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT id, kind, row_id, created_at_epoch FROM forgotten ORDER BY id DESC",
        )?;
        Ok(rows
            .query_map([], |row| {
                Ok(Forgotten {
                    id: row.get(0)?,
                    kind: row.get(1)?,
                    row_id: row.get(2)?,
                    at: row.get(3)?,
                })
            })?
            .collect::<Result<_, _>>()?)
    }

    /// Whether something of this name was forgotten and must stay so.
    pub fn is_tombstone(&self, key: &str) -> Result<bool, StoreError> {
        Ok(self
            .0
            .prepare_cached("SELECT 1 FROM tombstones WHERE key = ?1")?
            .query_row([key], |_| Ok(()))
            .optional()?
            .is_some())
    }

    fn whole_row(&self, kind: RowKind, row_id: i64) -> Result<Body, StoreError> {
        let mut statement = self
            .0
            .prepare(&format!("SELECT * FROM {} WHERE id = ?1", kind.table()))?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let found = statement
            .query_row([row_id], |row| {
                let mut columns = Vec::with_capacity(names.len());
                for (at, name) in names.iter().enumerate() {
                    columns.push((name.clone(), as_json(row.get_ref(at)?)));
                }
                let session = None;
                Ok(Body { columns, session })
            })
            .optional()?;
        let mut body = found.ok_or(StoreError::NoSuchRow {
            what: kind.as_str(),
            id: row_id,
        })?;
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

impl Writes<'_> {
    /// Removes the row from every index and keeps it aside for [`Writes::undo_forget`]. Its words
    /// go from the pages that held them, and from what was made of them for the session.
    pub fn forget(&self, kind: RowKind, row_id: i64, now: Millis) -> Result<(), StoreError> {
        let body = self.whole_row(kind, row_id)?;
        for key in tombstone_keys(&body) {
            self.tx.execute(
                "INSERT INTO tombstones (key, created_at_epoch) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                params![key, now],
            )?;
        }
        self.tx.execute(
            "INSERT INTO forgotten (kind, row_id, body, created_at_epoch) VALUES (?1, ?2, ?3, ?4)",
            params![kind, row_id, serde_json::to_string(&body)?, now],
        )?;
        self.forget_words_for_good(true)?;
        self.tx.execute(
            &format!("DELETE FROM {} WHERE id = ?1", kind.table()),
            [row_id],
        )?;
        self.forget_words_for_good(false)?;
        self.tx.execute(
            "UPDATE observation_feedback SET reason = '' WHERE kind = ?1 AND row_id = ?2",
            params![kind, row_id],
        )?;
        if let Some(session) = body.number("session_id").map(SessionId) {
            self.forget_in_session(session)?;
        }
        Ok(())
    }

    /// Otherwise the full-text index keeps a deleted row's words until it is next merged, and in
    /// pages that are free afterwards. Too slow for everyday's changes.
    fn forget_words_for_good(&self, on: bool) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("INSERT INTO texts_fts(texts_fts, rank) VALUES ('secure-delete', ?1)")?
            .execute([on])?;
        Ok(())
    }

    /// What was carried from turn to turn may tell of what is gone, and the session's name is its
    /// first prompt that is left.
    fn forget_in_session(&self, session: SessionId) -> Result<(), StoreError> {
        self.tx.execute(
            "UPDATE sdk_sessions SET carry = NULL, rolling_summary = NULL WHERE id = ?1",
            [session],
        )?;
        // Subagents have their own, where their transcripts were left.
        self.tx.execute(
            "UPDATE transcript_positions SET state = json_remove(state, '$.carry') WHERE (client, session) IN
               (SELECT client, content_session_id FROM sdk_sessions WHERE id = ?1)",
            [session],
        )?;
        self.name_session(session)
    }

    /// Brings back what was forgotten, under its old id. False if it is past undoing: it was too
    /// long ago, or what it belonged to is gone.
    pub fn undo_forget(&self, kind: RowKind, row_id: i64) -> Result<bool, StoreError> {
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
        let mut body: Body = serde_json::from_str(&body)?;
        if !self.has_a_place(kind, &mut body)? {
            return Ok(false);
        }
        for key in tombstone_keys(&body) {
            self.tx
                .execute("DELETE FROM tombstones WHERE key = ?1", [key])?;
        }
        self.restore(kind, &body)?;
        self.tx
            .execute("DELETE FROM forgotten WHERE id = ?1", [id])?;
        self.index_row(kind, row_id)?;
        self.note_change(kind, row_id)?;
        if let (RowKind::Prompt, Some(session)) = (kind, body.number("session_id")) {
            self.name_session(SessionId(session))?;
        }
        Ok(true)
    }

    /// Whether there is still something that the row can belong to. What it can do without it does
    /// without.
    fn has_a_place(&self, kind: RowKind, body: &mut Body) -> Result<bool, StoreError> {
        for (column, table) in [
            ("import_run", "import_runs"),
            ("replaced_by", "observations"),
        ] {
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

    /// After this, some of what was forgotten before `before` is gone for good. To be called until
    /// fewer go than it may.
    pub fn purge_forgotten(&self, before: Millis, rows_max: u32) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "DELETE FROM forgotten WHERE id IN (SELECT id FROM forgotten WHERE created_at_epoch < ?1 LIMIT ?2)",
            params![before, rows_max],
        )?)
    }

    fn restore(&self, kind: RowKind, body: &Body) -> Result<(), StoreError> {
        // The names come from SQLite itself, and computed columns cannot be written.
        let writable: Vec<&(String, serde_json::Value)> = body
            .columns
            .iter()
            .filter(|(name, _)| name != "created_at")
            .collect();
        let names: Vec<String> = writable
            .iter()
            .map(|(name, _)| format!("\"{}\"", name.replace('"', "\"\"")))
            .collect();
        let marks = vec!["?"; names.len()].join(", ");
        let sql = format!(
            "INSERT INTO {} ({}) VALUES ({marks})",
            kind.table(),
            names.join(", ")
        );
        self.tx.execute(
            &sql,
            rusqlite::params_from_iter(writable.iter().map(|(_, value)| as_sql(value))),
        )?;
        Ok(())
    }

    /// Makes a row's full-text side anew.
    pub fn index_row(&self, kind: RowKind, row_id: i64) -> Result<(), StoreError> {
        match kind {
            RowKind::Observation => self.index_observation(ObservationId(row_id)),
            RowKind::Summary => self.index_summary(SummaryId(row_id)),
            RowKind::Prompt => {
                let row = self.prompt(PromptId(row_id))?;
                self.index_words(
                    kind,
                    row_id,
                    row.project,
                    row.session,
                    row.created_at,
                    &row.text,
                )
            }
            RowKind::Message => {
                let row = self.final_message(FinalMessageId(row_id))?;
                self.index_words(
                    kind,
                    row_id,
                    row.project,
                    row.session,
                    row.created_at,
                    &row.text,
                )
            }
        }
    }

    fn index_words(
        &self,
        kind: RowKind,
        row_id: i64,
        project: Option<ProjectId>,
        session: SessionId,
        at: Millis,
        body: &str,
    ) -> Result<(), StoreError> {
        let (session, title, tags) = (Some(session), "", "");
        self.index_text(&IndexedText {
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

/// The names under which a forgotten row could come back: its own, and what it says.
fn tombstone_keys(body: &Body) -> Vec<String> {
    let text = |name| body.text(name);
    let said = if let (Some(title), Some(narrative)) = (text("title"), text("narrative")) {
        Some(tombstone_for(title, narrative))
    } else if let Some(prompt) = text("prompt_text") {
        Some(tombstone_for("", prompt))
    } else if let Some(message) = text("message_text") {
        Some(tombstone_for_message(message))
    } else {
        let fields = SUMMARY_FIELDS.map(|name| text(name).unwrap_or_default());
        text("request").map(|_| tombstone_for_summary(fields))
    };
    text("uid")
        .map(|uid| format!("uid:{uid}"))
        .into_iter()
        .chain(said)
        .collect()
}

/// In the order of [`tombstone_for_summary`].
const SUMMARY_FIELDS: [&str; 6] = [
    "request",
    "investigated",
    "learned",
    "completed",
    "next_steps",
    "notes",
];

/// What an import of the same words is recognised by, whichever session it claims to come from.
pub fn tombstone_for(title: &str, narrative: &str) -> String {
    let mut hash = Sha256::new();
    hash.update((title.len() as u64).to_le_bytes());
    hash.update(title);
    hash.update(narrative);
    format!("said:{}", hex(&hash.finalize()[..16]))
}

/// The same of an agent's words. A prompt that says the same is not meant.
pub fn tombstone_for_message(text: &str) -> String {
    tombstone_for("\0message", text)
}

/// The same of a summary: request, investigated, learned, completed, next steps, notes.
pub fn tombstone_for_summary(fields: [&str; 6]) -> String {
    tombstone_for("\0summary", &fields.join("\0"))
}

fn as_json(value: rusqlite::types::ValueRef<'_>) -> serde_json::Value {
    use rusqlite::types::ValueRef;
    match value {
        ValueRef::Null | ValueRef::Blob(_) => serde_json::Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
    }
}

fn as_sql(value: &serde_json::Value) -> rusqlite::types::Value {
    use rusqlite::types::Value;
    match value {
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Number(number) => number.as_i64().map_or_else(
            || number.as_f64().map_or(Value::Null, Value::Real),
            Value::Integer,
        ),
        _ => Value::Null,
    }
}
