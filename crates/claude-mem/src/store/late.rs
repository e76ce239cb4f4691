//! Texts on their way into the full-text index, several to a statement.
//!
//! Invariant: whatever a transaction holds back is in the index before it is committed, and before
//! anything that could touch the same rows.

use std::cell::RefCell;
use std::collections::HashMap;

use rusqlite::types::ToSql;

use super::place::Place;
use super::{RowKind, StoreError, Writes};
use crate::clock::Millis;
use crate::ids::{ProjectId, SessionId};
use crate::limits::TEXTS_AT_ONCE_MAX;

/// One row of the index, as it will stand there once it has a place.
#[derive(Debug)]
pub(super) struct NewText {
    pub kind: RowKind,
    pub row_id: i64,
    /// Among whose texts it is to stand.
    pub owner: ProjectId,
    pub project: Option<ProjectId>,
    pub session: Option<SessionId>,
    pub at: Millis,
    pub title: String,
    pub body: String,
    pub tags: String,
    pub split: String,
    pub hash: i64,
}

const COLUMNS: &str = "INSERT INTO texts (id, kind, row_id, project_id, session_id, created_at_epoch, title, \
    body, tags, split, text_hash) VALUES ";
const MARKS: &str = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

impl NewText {
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

/// What a transaction holds back, if it does.
#[derive(Debug)]
pub(super) struct Late(Option<RefCell<Vec<NewText>>>);

impl Late {
    pub(super) const fn none() -> Self {
        Self(None)
    }

    pub(super) fn some() -> Self {
        Self(Some(RefCell::default()))
    }

    /// Whether something of this row is held back.
    pub(super) fn has(&self, kind: RowKind, row_id: i64) -> bool {
        let held = self.0.as_ref().map(RefCell::borrow);
        held.is_some_and(|held| {
            held.iter()
                .any(|text| text.kind == kind && text.row_id == row_id)
        })
    }
}

impl Writes<'_> {
    /// Puts it into the index, now or with the others.
    pub(super) fn index(&self, text: NewText) -> Result<(), StoreError> {
        match &self.late.0 {
            Some(held) => {
                held.borrow_mut().push(text);
                Ok(())
            }
            None => self.insert_texts(&[text]),
        }
    }

    /// Puts what was held back into the index.
    pub(super) fn index_late(&self) -> Result<(), StoreError> {
        match &self.late.0 {
            Some(held) => self.insert_texts(&held.take()),
            None => Ok(()),
        }
    }

    fn insert_texts(&self, texts: &[NewText]) -> Result<(), StoreError> {
        let placed = self.placed(texts)?;
        let (mut rest, mut rows) = (placed.as_slice(), TEXTS_AT_ONCE_MAX);
        while !rest.is_empty() {
            // Powers of two, so that few statements have to be compiled and kept.
            if rest.len() < rows {
                rows /= 2;
                continue;
            }
            let (some, others) = rest.split_at(rows);
            let marks = vec![MARKS; rows].join(", ");
            let mut insert = self.tx.prepare_cached(&format!("{COLUMNS}{marks}"))?;
            let values = some.iter().flat_map(|(place, text)| text.values(&place.0));
            insert.execute(rusqlite::params_from_iter(values))?;
            rest = others;
        }
        Ok(())
    }

    /// Each behind its owner's others.
    fn placed<'t>(&self, texts: &'t [NewText]) -> Result<Vec<(Place, &'t NewText)>, StoreError> {
        let mut last: HashMap<ProjectId, i64> = HashMap::new();
        let mut placed = Vec::with_capacity(texts.len());
        for text in texts {
            let sequence = match last.get(&text.owner) {
                Some(last) => last + 1,
                None => self.last_sequence(text.owner)? + 1,
            };
            last.insert(text.owner, sequence);
            placed.push((Place::new(text.owner, sequence, text.kind), text));
        }
        Ok(placed)
    }
}
