//! Batches inserts into the full-text index, several documents per statement.
//!
//! [`DeferredFtsWrites`] holds the documents of one transaction. Invariant: they are inserted
//! before the transaction commits, and before any statement that could touch the same rows.

use std::cell::RefCell;
use std::collections::HashMap;

use rusqlite::Transaction;
use rusqlite::types::{ToSql, Value};

use super::{RowId, RowKind, StoreError, StoreReader};
use crate::doc_id::DocId;
use claude_mem_core::ids::ProjectId;
use claude_mem_core::limits::TEXTS_AT_ONCE_MAX;

/// A document that has no `DocId` yet.
#[derive(Debug)]
pub(super) struct NewDocument {
    pub kind: RowKind,
    pub row_id: i64,
    /// The project in whose id range the document is stored, or `NO_PROJECT`.
    pub owner: ProjectId,
    pub project: Value,
    pub session: Value,
    pub at: Value,
    pub title: String,
    pub body: String,
    pub tags: String,
    pub split: String,
    pub hash: i64,
}

const COLUMNS: &str = "INSERT INTO texts (id, kind, row_id, project_id, session_id, created_at_epoch, title, \
    body, tags, split, text_hash) VALUES ";
const PLACEHOLDERS: &str = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

impl NewDocument {
    fn values<'v>(&'v self, place: &'v i64) -> [&'v dyn ToSql; 11] {
        [
            place,
            &self.kind,
            &self.row_id,
            &self.project,
            &self.session,
            &self.at,
            &self.title,
            &self.body,
            &self.tags,
            &self.split,
            &self.hash,
        ]
    }
}

/// The documents that a transaction has not inserted yet. `None`: every insert is immediate.
#[derive(Debug)]
pub(super) struct DeferredFtsWrites(Option<RefCell<Vec<NewDocument>>>);

impl DeferredFtsWrites {
    pub(super) const fn immediate() -> Self {
        Self(None)
    }

    pub(super) fn deferred() -> Self {
        Self(Some(RefCell::default()))
    }

    /// Whether a document of this row is waiting.
    pub(super) fn contains(&self, RowId { kind, row_id }: RowId) -> bool {
        let held = self.0.as_ref().map(RefCell::borrow);
        held.is_some_and(|held| held.iter().any(|text| text.kind == kind && text.row_id == row_id))
    }

    /// Inserts a document, now or with the next batch.
    pub(super) fn insert(&self, tx: &Transaction<'_>, text: NewDocument) -> Result<(), StoreError> {
        match &self.0 {
            Some(held) => {
                held.borrow_mut().push(text);
                Ok(())
            }
            None => insert_documents(tx, &[text]),
        }
    }

    /// Inserts the waiting documents.
    pub(super) fn flush(&self, tx: &Transaction<'_>) -> Result<(), StoreError> {
        match &self.0 {
            Some(held) => insert_documents(tx, &held.take()),
            None => Ok(()),
        }
    }
}

fn insert_documents(tx: &Transaction<'_>, texts: &[NewDocument]) -> Result<(), StoreError> {
    let placed = assign_doc_ids(tx, texts)?;
    let (mut rest, mut rows) = (placed.as_slice(), TEXTS_AT_ONCE_MAX);
    while !rest.is_empty() {
        // Powers of two, so that few distinct statements are compiled and cached.
        if rest.len() < rows {
            rows /= 2;
            continue;
        }
        let (some, others) = rest.split_at(rows);
        let marks = vec![PLACEHOLDERS; rows].join(", ");
        let mut insert = tx.prepare_cached(&format!("{COLUMNS}{marks}"))?;
        let values = some.iter().flat_map(|(place, text)| text.values(&place.0));
        insert.execute(rusqlite::params_from_iter(values))?;
        rest = others;
    }
    Ok(())
}

/// Gives each document the next id of its owner.
fn assign_doc_ids<'t>(
    tx: &Transaction<'_>,
    texts: &'t [NewDocument],
) -> Result<Vec<(DocId, &'t NewDocument)>, StoreError> {
    let mut last: HashMap<ProjectId, i64> = HashMap::new();
    let mut placed = Vec::with_capacity(texts.len());
    for text in texts {
        let sequence = match last.get(&text.owner) {
            Some(last) => last + 1,
            None => StoreReader(tx).last_sequence(text.owner)? + 1,
        };
        last.insert(text.owner, sequence);
        placed.push((DocId::new(text.owner, sequence, text.kind), text));
    }
    Ok(placed)
}
