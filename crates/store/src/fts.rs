//! Reads the full-text index: [`Postings`] lists the documents of one term, [`DocHeader`] and
//! [`IndexedDocument`] load them.

use rusqlite::{OptionalExtension, Row, params};

use super::{FtsQuery, RowId, RowKind, StoreError, StoreReader, TimedRowId};
use crate::columns::{ReadColumn, SqlColumn};
use crate::doc_id::{Corpus, DocId, DocIdRange};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ProjectId, SessionId};

/// Above this document frequency we extrapolate: FTS5 can only count by scanning the posting list.
const EXACT_DOC_FREQ_MAX: u32 = 256;

/// A document without its text, to decide whether its row is in scope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DocHeader {
    pub kind: RowKind,
    pub row_id: i64,
    pub created_at: Millis,
}

/// A row's text as indexed, with the fields that ranking needs.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedDocument {
    pub doc_id: DocId,
    pub kind: RowKind,
    pub row_id: i64,
    pub project: Option<ProjectId>,
    pub session: Option<SessionId>,
    pub created_at: Millis,
    /// Identifies the text. A vector made from another text has another hash.
    pub text_hash: i64,
    pub title: String,
    pub body: String,
    pub tags: String,
    pub split: String,
}

impl IndexedDocument {
    /// Whether the observation applies to all projects.
    pub fn is_at_user_level(&self) -> bool {
        self.kind == RowKind::Observation && self.doc_id.is_at_user_level()
    }
}

pub(super) const DOCUMENT: &str =
    "SELECT kind, row_id, project_id, session_id, created_at_epoch, title, body, tags, split,
    text_hash, id FROM texts";

pub(super) fn document(row: &Row<'_>) -> rusqlite::Result<IndexedDocument> {
    Ok(IndexedDocument {
        kind: row.get(0)?,
        row_id: row.get(1)?,
        project: row.column(2)?,
        session: row.column(3)?,
        created_at: row.column(4)?,
        title: row.get(5)?,
        body: row.get(6)?,
        tags: row.get(7)?,
        split: row.get(8)?,
        text_hash: row.get(9)?,
        doc_id: DocId(row.get(10)?),
    })
}

/// The documents that contain a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Postings {
    /// How many documents contain the term; an estimate for frequent terms.
    pub doc_freq: u64,
    /// In id order. `None` for a term that is too frequent to list.
    pub doc_ids: Option<Vec<DocId>>,
}

impl StoreReader<'_> {
    /// Calls `take` for each document in `spans` that matches, in id order, at most `limit` times.
    pub fn for_each_match(
        &self,
        what: &FtsQuery,
        spans: &[DocIdRange],
        limit: u32,
        mut take: impl FnMut(DocId),
    ) -> Result<(), StoreError> {
        let query = what.to_fts5();
        let mut found = self.0.prepare_cached(
            "SELECT rowid FROM texts_fts WHERE texts_fts MATCH ?1 AND rowid BETWEEN ?2 AND ?3 LIMIT ?4",
        )?;
        let mut left = limit;
        for DocIdRange { first, last } in spans {
            let mut rows = found.query(params![query, first, last, left])?;
            while let Some(row) = rows.next()? {
                take(DocId(row.get(0)?));
                left -= 1;
            }
        }
        Ok(())
    }

    /// The newest documents of a range that match, newest first.
    pub fn newest_matches(
        &self,
        what: &FtsQuery,
        DocIdRange { first, last }: DocIdRange,
        limit: u32,
    ) -> Result<Vec<DocId>, StoreError> {
        let mut found = self.0.prepare_cached(
            "SELECT rowid FROM texts_fts WHERE texts_fts MATCH ?1 AND rowid BETWEEN ?2 AND ?3
             ORDER BY rowid DESC LIMIT ?4",
        )?;
        let places =
            found.query_map(params![what.to_fts5(), first, last, limit], |row| row.get(0).map(DocId))?;
        Ok(places.collect::<Result<_, _>>()?)
    }

    /// Whether a row's document matches.
    pub fn row_matches_query(
        &self,
        what: &FtsQuery,
        RowId { kind, row_id }: RowId,
    ) -> Result<bool, StoreError> {
        let mut found = self.0.prepare_cached(
            "SELECT 1 FROM texts_fts WHERE texts_fts MATCH ?1
             AND rowid = (SELECT id FROM texts WHERE kind = ?2 AND row_id = ?3)",
        )?;
        Ok(found.exists(params![what.to_fts5(), kind, row_id])?)
    }

    pub fn document(&self, RowId { kind, row_id }: RowId) -> Result<Option<IndexedDocument>, StoreError> {
        Ok(self
            .0
            .prepare_cached(&format!("{DOCUMENT} WHERE kind = ?1 AND row_id = ?2"))?
            .query_row(params![kind, row_id], document)
            .optional()?)
    }

    pub fn document_by_id(&self, place: DocId) -> Result<Option<IndexedDocument>, StoreError> {
        Ok(self
            .0
            .prepare_cached(&format!("{DOCUMENT} WHERE id = ?1"))?
            .query_row([place.0], document)
            .optional()?)
    }

    pub fn doc_header(&self, place: DocId) -> Result<Option<DocHeader>, StoreError> {
        let mut statement =
            self.0.prepare_cached("SELECT kind, row_id, created_at_epoch FROM texts WHERE id = ?1")?;
        let label = statement.query_row([place.0], |row| {
            Ok(DocHeader { kind: row.get(0)?, row_id: row.get(1)?, created_at: row.column(2)? })
        });
        Ok(label.optional()?)
    }

    /// The rows of a session just before and just after a time, nearest first. The row at that time
    /// is excluded by the caller.
    pub fn session_neighbours(
        &self,
        session: SessionId,
        at: Millis,
        each_side: u32,
    ) -> Result<Vec<RowId>, StoreError> {
        let mut found = Vec::new();
        for sql in [
            "SELECT kind, row_id FROM texts WHERE session_id = ?1 AND created_at_epoch < ?2
             ORDER BY created_at_epoch DESC LIMIT ?3",
            "SELECT kind, row_id FROM texts WHERE session_id = ?1 AND created_at_epoch > ?2
             ORDER BY created_at_epoch ASC LIMIT ?3",
        ] {
            let mut rows = self.0.prepare_cached(sql)?;
            for row in rows
                .query_map(params![session.sql(), at.sql(), each_side], |row| RowId::from_columns(row, 0))?
            {
                found.push(row?);
            }
        }
        Ok(found)
    }

    /// The rows of a session between two times, both included, oldest first.
    pub fn session_between(
        &self,
        session: SessionId,
        from: Millis,
        to: Millis,
    ) -> Result<Vec<TimedRowId>, StoreError> {
        let mut statement = self.0.prepare_cached(
            "SELECT created_at_epoch, kind, row_id FROM texts
             WHERE session_id = ?1 AND created_at_epoch BETWEEN ?2 AND ?3
             ORDER BY created_at_epoch, kind, row_id",
        )?;
        let rows = statement.query_map(params![session.sql(), from.sql(), to.sql()], |row| {
            Ok((row.column(0)?, RowId::from_columns(row, 1)?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The posting list of a term within the corpus. For a frequent term, only its estimated
    /// frequency.
    pub fn postings(&self, word: &str, reach: &Corpus) -> Result<Postings, StoreError> {
        let what = FtsQuery::Term(word.to_owned());
        let mut places = Vec::new();
        self.for_each_match(&what, &reach.doc_id_ranges(), EXACT_DOC_FREQ_MAX, |place| {
            places.push(place);
        })?;
        let count = places.len() as u64;
        // A term that is too frequent to be listed is estimated: a few documents less do not change that.
        let listed = |mut places: Vec<DocId>| {
            places.retain(|place| !reach.is_excepted(*place));
            Postings { doc_freq: places.len() as u64, doc_ids: Some(places) }
        };
        match places.last() {
            Some(&furthest) if count == u64::from(EXACT_DOC_FREQ_MAX) => {
                let looked_at = reach.docs_up_to(furthest).max(1);
                let count = count as f64 * reach.doc_count() as f64 / looked_at as f64;
                Ok(Postings { doc_freq: count as u64, doc_ids: None })
            }
            _ => Ok(listed(places)),
        }
    }
}
