//! The indexed document of every row, and its entry in the embedding backlog.
//!
//! Each searchable row ([`RowKind`]) has one row in `texts`, which the full-text index covers.

use rusqlite::params;
use sha2::{Digest, Sha256};

use super::{RowId, RowKind, StoreError, StoreWriter, split_identifiers};
use crate::columns::SqlColumn;
use crate::doc_id::{DocId, DocIdRange, NO_PROJECT};
use crate::fts_batch::NewDocument;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ProjectId, SessionId};

/// Maximum words of one passage. A passage has its own vector, and a long text is ranked by its
/// passages as well as by the whole.
const PASSAGE_WORDS_MAX: usize = 90;

impl StoreWriter<'_> {
    /// Inserts or replaces a row's document and queues it for embedding.
    pub(super) fn index_document(&self, text: &DocumentFields<'_>) -> Result<(), StoreError> {
        let DocumentFields { kind, row_id, project, user_level, session, at, title, body, tags } = *text;
        let row = RowId::new(kind, row_id);
        if self.has_document(row)? || self.deferred.contains(row) {
            self.deferred.flush(self.tx)?;
            self.tx
                .prepare_cached("DELETE FROM texts WHERE kind = ?1 AND row_id = ?2")?
                .execute(params![kind, row_id])?;
        }
        let document = NewDocument {
            kind,
            row_id,
            owner: project.filter(|_| !user_level).unwrap_or(NO_PROJECT),
            project: project.sql(),
            session: session.sql(),
            at: at.sql(),
            hash: text_hash(title, body),
            split: split_identifiers(&format!("{title} {body} {tags}")),
            title: title.to_owned(),
            body: body.to_owned(),
            tags: tags.to_owned(),
        };
        self.deferred.insert(self.tx, document)?;
        self.enqueue_embedding(row, at)
    }

    fn has_document(&self, RowId { kind, row_id }: RowId) -> Result<bool, StoreError> {
        let mut one =
            self.tx.prepare_cached("SELECT EXISTS (SELECT 1 FROM texts WHERE kind = ?1 AND row_id = ?2)")?;
        Ok(one.query_row(params![kind, row_id], |row| row.get(0))?)
    }

    /// Moves all documents of a project to the end of another project's id range: the id encodes
    /// the project.
    pub(super) fn move_documents(&self, from: ProjectId, into: ProjectId) -> Result<(), StoreError> {
        let DocIdRange { first, last } = DocIdRange::for_owner(from);
        let behind = DocId::new(into, self.last_sequence(into)?, RowKind::ALL[0]);
        self.tx.execute(
            "UPDATE texts SET id = id - ?1 + ?3 WHERE id BETWEEN ?1 AND ?2",
            [first, last, behind.0],
        )?;
        self.tx.execute(
            "UPDATE texts SET project_id = ?2 WHERE project_id = ?1",
            params![from.sql(), into.sql()],
        )?;
        self.enqueue_project_embeddings(into)
    }
}

/// Identifies a text, to tell whether a vector was made from it.
fn text_hash(title: &str, body: &str) -> i64 {
    let mut hash = Sha256::new();
    hash.update((title.len() as u64).to_le_bytes());
    hash.update(title);
    hash.update(body);
    let digest = hash.finalize();
    i64::from_le_bytes(std::array::from_fn(|at| digest[at]))
}

/// The fields of a row that are indexed.
#[derive(Clone, Copy, Debug)]
pub(super) struct DocumentFields<'a> {
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

/// Splits a text into passages of at most `PASSAGE_WORDS_MAX` words, at the end of a sentence if
/// one is in the second half.
pub fn passages(body: &str) -> Vec<&str> {
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
