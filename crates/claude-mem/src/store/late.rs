//! Passages on their way into the full-text index, several to a statement.
//!
//! Invariant: whatever a transaction holds back is in the index before it is committed, and before
//! anything that could touch the same rows.

use std::cell::RefCell;

use rusqlite::types::ToSql;

use super::{RowKind, StoreError, Writes};
use crate::clock::Millis;
use crate::ids::{ProjectId, SessionId};
use crate::limits::PASSAGES_AT_ONCE_MAX;

/// One row of the index, as it will stand there.
#[derive(Debug)]
pub(super) struct NewPassage {
    pub kind: RowKind,
    pub row_id: i64,
    pub part: usize,
    pub project: Option<ProjectId>,
    pub session: Option<SessionId>,
    pub at: Millis,
    pub title: String,
    pub body: String,
    pub tags: String,
    pub split: String,
    pub scope: String,
    pub hash: i64,
}

const COLUMNS: &str = "INSERT INTO passages (kind, row_id, part, project_id, session_id, created_at_epoch, title, \
    body, tags, split, scope, text_hash) VALUES ";
const MARKS: &str = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

impl NewPassage {
    fn values(&self) -> [&dyn ToSql; 12] {
        [
            &self.kind,
            &self.row_id,
            &self.part,
            &self.project,
            &self.session,
            &self.at,
            &self.title,
            &self.body,
            &self.tags,
            &self.split,
            &self.scope,
            &self.hash,
        ]
    }
}

/// What a transaction holds back, if it does.
#[derive(Debug)]
pub(super) struct Late(Option<RefCell<Vec<NewPassage>>>);

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
                .any(|passage| passage.kind == kind && passage.row_id == row_id)
        })
    }
}

impl Writes<'_> {
    /// Puts them into the index, now or with the others.
    pub(super) fn index(&self, passages: Vec<NewPassage>) -> Result<(), StoreError> {
        match &self.late.0 {
            Some(held) => {
                held.borrow_mut().extend(passages);
                Ok(())
            }
            None => self.insert_passages(&passages),
        }
    }

    /// Puts what was held back into the index.
    pub(super) fn index_late(&self) -> Result<(), StoreError> {
        match &self.late.0 {
            Some(held) => self.insert_passages(&held.take()),
            None => Ok(()),
        }
    }

    fn insert_passages(&self, passages: &[NewPassage]) -> Result<(), StoreError> {
        let (mut rest, mut rows) = (passages, PASSAGES_AT_ONCE_MAX);
        while !rest.is_empty() {
            // Powers of two, so that few statements have to be compiled and kept.
            if rest.len() < rows {
                rows /= 2;
                continue;
            }
            let (some, others) = rest.split_at(rows);
            let marks = vec![MARKS; rows].join(", ");
            let mut insert = self.tx.prepare_cached(&format!("{COLUMNS}{marks}"))?;
            let values = some.iter().flat_map(NewPassage::values);
            insert.execute(rusqlite::params_from_iter(values))?;
            rest = others;
        }
        Ok(())
    }
}
