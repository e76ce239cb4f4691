//! Forgetting: gone at once, undone for a while, and never brought back by an import.

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::observations::hex;
use super::passages::IndexedText;
use super::{Reads, RowKind, StoreError, Writes};
use crate::clock::Millis;
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
                Ok(Body { columns })
            })
            .optional()?;
        found.ok_or(StoreError::NoSuchRow {
            what: kind.as_str(),
            id: row_id,
        })
    }
}

impl Writes<'_> {
    /// Removes the row from every index and keeps it aside for [`Writes::undo_forget`].
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
        self.tx.execute(
            &format!("DELETE FROM {} WHERE id = ?1", kind.table()),
            [row_id],
        )?;
        Ok(())
    }

    /// Brings back what was forgotten, under its old id. False if it is past undoing.
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
        let body: Body = serde_json::from_str(&body)?;
        for key in tombstone_keys(&body) {
            self.tx
                .execute("DELETE FROM tombstones WHERE key = ?1", [key])?;
        }
        self.restore(kind, &body)?;
        self.tx
            .execute("DELETE FROM forgotten WHERE id = ?1", [id])?;
        self.index_row(kind, row_id)?;
        Ok(true)
    }

    /// After this, what was forgotten before `before` is gone for good.
    pub fn purge_forgotten(&self, before: Millis) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "DELETE FROM forgotten WHERE created_at_epoch < ?1",
            [before],
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
        let (session, title, tags, observation_type) = (Some(session), "", "", "");
        self.index_text(&IndexedText {
            kind,
            row_id,
            project,
            user_level: false,
            session,
            at,
            observation_type,
            title,
            body,
            tags,
        })
    }
}

/// The names under which a forgotten row could come back: its own, and what it says.
fn tombstone_keys(body: &Body) -> Vec<String> {
    let text = |name: &str| {
        body.columns
            .iter()
            .find(|(column, _)| column == name)
            .and_then(|(_, value)| value.as_str())
    };
    let said = match (text("title"), text("narrative"), text("prompt_text")) {
        (Some(title), Some(narrative), _) => Some(tombstone_for(title, narrative)),
        (_, _, Some(prompt)) => Some(tombstone_for("", prompt)),
        _ => None,
    };
    text("uid")
        .map(|uid| format!("uid:{uid}"))
        .into_iter()
        .chain(said)
        .collect()
}

/// What an import of the same words is recognised by, whichever session it claims to come from.
pub fn tombstone_for(title: &str, narrative: &str) -> String {
    let mut hash = Sha256::new();
    hash.update((title.len() as u64).to_le_bytes());
    hash.update(title);
    hash.update(narrative);
    format!("said:{}", hex(&hash.finalize()[..16]))
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
