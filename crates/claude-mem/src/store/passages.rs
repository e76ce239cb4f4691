//! The full-text side of every row, and its place in the vector backlog.

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::late::NewPassage;
use super::{Reads, StoreError, Writes, split_identifiers};
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

/// What the index holds of one row or of one part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    pub kind: RowKind,
    pub row_id: i64,
    pub part: u32,
    pub title: String,
    pub body: String,
    pub tags: String,
}

fn passage(row: &Row<'_>) -> rusqlite::Result<Passage> {
    Ok(Passage {
        kind: row.get(0)?,
        row_id: row.get(1)?,
        part: row.get(2)?,
        title: row.get(3)?,
        body: row.get(4)?,
        tags: row.get(5)?,
    })
}

impl Reads<'_> {
    pub fn passages_of(&self, kind: RowKind, row_id: i64) -> Result<Vec<Passage>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT kind, row_id, part, title, body, tags FROM passages WHERE kind = ?1 AND row_id = ?2 ORDER BY part",
        )?;
        Ok(rows
            .query_map(params![kind, row_id], passage)?
            .collect::<Result<_, _>>()?)
    }
}

impl Writes<'_> {
    /// Puts a row's text into the full-text index (anew, if it is there) and asks for its vectors.
    pub(super) fn index_text(&self, text: &IndexedText<'_>) -> Result<(), StoreError> {
        let IndexedText {
            kind,
            row_id,
            project,
            session,
            at,
            title,
            body,
            tags,
            ..
        } = *text;
        if self.has_passages(kind, row_id)? || self.late.has(kind, row_id) {
            self.index_late()?;
            self.tx
                .prepare_cached("DELETE FROM passages WHERE kind = ?1 AND row_id = ?2")?
                .execute(params![kind, row_id])?;
        }
        let scope = scope(text);
        let passage = |part: usize, title: &str, body: &str, tags: &str, hash: i64| NewPassage {
            kind,
            row_id,
            part,
            project,
            session,
            at,
            split: split_identifiers(&format!("{title} {body} {tags}")),
            title: title.to_owned(),
            body: body.to_owned(),
            tags: tags.to_owned(),
            scope: scope.clone(),
            hash,
        };
        let mut passages = vec![passage(0, title, body, tags, text_hash(title, body))];
        let pieces = pieces(body);
        if pieces.len() > 1 {
            let parts = pieces.iter().enumerate();
            passages.extend(parts.map(|(place, piece)| passage(place + 1, "", piece, "", 0)));
        }
        self.index(passages)?;
        self.owe_vectors(kind, row_id, at)
    }

    fn has_passages(&self, kind: RowKind, row_id: i64) -> Result<bool, StoreError> {
        let mut one = self.tx.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM passages WHERE kind = ?1 AND row_id = ?2)",
        )?;
        Ok(one.query_row(params![kind, row_id], |row| row.get(0))?)
    }

    /// Passages carry their project in the scope column; a merge has to rewrite it.
    pub(super) fn move_passages(&self, from: ProjectId, into: ProjectId) -> Result<(), StoreError> {
        self.tx.execute(
            "UPDATE passages SET project_id = ?2, scope = replace(scope, ?3, ?4) WHERE project_id = ?1",
            params![from, into, project_token(Some(from)), project_token(Some(into))],
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
    /// An observation's type; empty for other rows.
    pub observation_type: &'a str,
    pub title: &'a str,
    pub body: &'a str,
    pub tags: &'a str,
}

/// Tokens that no text can contain by chance decide which rows a query may see: matching them
/// inside the index is twice as fast as joining afterwards.
fn scope(text: &IndexedText<'_>) -> String {
    let mut scope = format!("{} {}", project_token(text.project), kind_token(text.kind));
    if text.user_level && text.project.is_some() {
        scope.push(' ');
        scope.push_str(USER_LEVEL);
    }
    if !text.observation_type.is_empty() {
        scope.push(' ');
        scope.push_str(&type_token(text.observation_type));
    }
    scope
}

/// Of what holds in every project, also beside the project that it was said in.
pub(super) const USER_LEVEL: &str = "xuserx";

pub(super) fn project_token(project: Option<ProjectId>) -> String {
    project.map_or_else(|| USER_LEVEL.to_owned(), |id| format!("xproj{}x", id.0))
}

pub(super) fn kind_token(kind: RowKind) -> String {
    format!("xkind{}x", kind.as_str())
}

pub(super) fn type_token(observation_type: &str) -> String {
    let name: String = observation_type
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    format!("xtype{}x", name.to_lowercase())
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
