//! The full-text side of every row, and its place in the vector backlog.

use rusqlite::params;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::late::NewText;
use super::place::{Place, Span};
use super::vectors::NOBODYS;
use super::{StoreError, Writes, split_identifiers};
use crate::clock::Millis;
use crate::ids::{ProjectId, SessionId};
use crate::limits::PASSAGE_WORDS_MAX;

/// The four kinds of rows that can be found.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum RowKind {
    Observation,
    Summary,
    Prompt,
    Message,
}

impl RowKind {
    pub const ALL: [Self; 4] = [
        Self::Observation,
        Self::Summary,
        Self::Prompt,
        Self::Message,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Observation => "observation",
            Self::Summary => "summary",
            Self::Prompt => "prompt",
            Self::Message => "message",
        }
    }

    pub(in crate::store) const fn table(self) -> &'static str {
        match self {
            Self::Observation => "observations",
            Self::Summary => "session_summaries",
            Self::Prompt => "user_prompts",
            Self::Message => "final_messages",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl rusqlite::ToSql for RowKind {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl rusqlite::types::FromSql for RowKind {
    fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
        Self::from_name(value.as_str()?).ok_or(rusqlite::types::FromSqlError::InvalidType)
    }
}

impl Writes<'_> {
    /// Puts a row's text into the full-text index (anew, if it is there) and asks for its vectors.
    pub(super) fn index_text(&self, text: &IndexedText<'_>) -> Result<(), StoreError> {
        let IndexedText {
            kind,
            row_id,
            project,
            user_level,
            session,
            at,
            title,
            body,
            tags,
        } = *text;
        if self.has_text(kind, row_id)? || self.late.has(kind, row_id) {
            self.index_late()?;
            self.tx
                .prepare_cached("DELETE FROM texts WHERE kind = ?1 AND row_id = ?2")?
                .execute(params![kind, row_id])?;
        }
        self.index(NewText {
            kind,
            row_id,
            owner: project.filter(|_| !user_level).unwrap_or(NOBODYS),
            project,
            session,
            at,
            hash: text_hash(title, body),
            split: split_identifiers(&format!("{title} {body} {tags}")),
            title: title.to_owned(),
            body: body.to_owned(),
            tags: tags.to_owned(),
        })?;
        self.owe_vectors(kind, row_id, at)
    }

    fn has_text(&self, kind: RowKind, row_id: i64) -> Result<bool, StoreError> {
        let mut one = self.tx.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM texts WHERE kind = ?1 AND row_id = ?2)",
        )?;
        Ok(one.query_row(params![kind, row_id], |row| row.get(0))?)
    }

    /// A text's place tells its project; a merge has to give it another, behind those that are
    /// there.
    pub(super) fn move_texts(&self, from: ProjectId, into: ProjectId) -> Result<(), StoreError> {
        let Span { first, last } = Span::of(from);
        let behind = Place::new(into, self.last_sequence(into)?, RowKind::ALL[0]);
        self.tx.execute(
            "UPDATE texts SET id = id - ?1 + ?3 WHERE id BETWEEN ?1 AND ?2",
            [first, last, behind.0],
        )?;
        self.tx.execute(
            "UPDATE texts SET project_id = ?2 WHERE project_id = ?1",
            params![from, into],
        )?;
        self.owe_vectors_of(into)
    }
}

/// Names a text: a vector made from another one has another name.
fn text_hash(title: &str, body: &str) -> i64 {
    let mut hash = Sha256::new();
    hash.update((title.len() as u64).to_le_bytes());
    hash.update(title);
    hash.update(body);
    let digest = hash.finalize();
    i64::from_le_bytes(std::array::from_fn(|at| digest[at]))
}

/// What `index_text` needs to know of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexedText<'a> {
    pub kind: RowKind,
    pub row_id: i64,
    pub project: Option<ProjectId>,
    pub user_level: bool,
    pub session: Option<SessionId>,
    pub at: Millis,
    pub title: &'a str,
    pub body: &'a str,
    pub tags: &'a str,
}

/// Runs of at most a passage's words, cut at a sentence's end where one is near.
pub fn pieces(body: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut words, mut last_stop) = (0, 0, None);
    let mut in_word = false;
    for (at, c) in body.char_indices() {
        if c.is_whitespace() {
            if in_word {
                words += 1;
                if body[..at].ends_with(['.', '!', '?', '\n', ':', ';']) {
                    last_stop = Some((at, words));
                }
            }
            in_word = false;
        } else {
            in_word = true;
        }
        if words >= PASSAGE_WORDS_MAX {
            let (cut, at_words) = match last_stop {
                Some((stop, count)) if count * 2 > PASSAGE_WORDS_MAX => (stop, count),
                _ => (at, words),
            };
            pieces.push(body[start..cut].trim());
            (start, words, last_stop) = (cut, words - at_words, None);
        }
    }
    if !body[start..].trim().is_empty() {
        pieces.push(body[start..].trim());
    }
    pieces
}
