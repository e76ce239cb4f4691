//! Document ids of the full-text index.
//!
//! A [`DocId`] encodes owner, sequence number and class of row. Invariant: the documents of one project
//! form one id range, in insertion order, and the id alone tells owner and class. So a search in one
//! project reads no postings of other projects, and the newest documents of a project are the end
//! of its [`DocIdRange`]. [`Corpus`] is the set of owners that a search covers.

use rusqlite::OptionalExtension;

use super::{RowFilter, RowKind, StoreError, StoreReader};
use claude_mem_core::ids::{ProjectId, SessionId};

const CLASS_BITS: u32 = 2;
const SEQUENCE_BITS: u32 = 40;
const OWNER_SHIFT: u32 = CLASS_BITS + SEQUENCE_BITS;

/// The project id for rows without a project; no real project has it.
pub const NO_PROJECT: ProjectId = ProjectId(0);

/// The rowid of a document in the full-text index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocId(pub(super) i64);

impl DocId {
    pub fn new(owner: ProjectId, sequence: i64, kind: RowKind) -> Self {
        Self(owner.0 << OWNER_SHIFT | sequence << CLASS_BITS | class_code(kind))
    }

    /// The owning project, or `NO_PROJECT` for a document at user level.
    pub fn owner(self) -> ProjectId {
        ProjectId(self.0 >> OWNER_SHIFT)
    }

    /// Whether a row of this kind may have this id: the class is exact but for summaries and accounts,
    /// which the document itself tells apart.
    pub fn may_be(self, kind: RowKind) -> bool {
        self.0 & ((1 << CLASS_BITS) - 1) == class_code(kind)
    }

    pub fn is_at_user_level(self) -> bool {
        self.owner() == NO_PROJECT
    }

    /// The position among its owner's documents, from 1.
    fn sequence(self) -> i64 {
        (self.0 >> CLASS_BITS) & ((1 << SEQUENCE_BITS) - 1)
    }
}

/// The two bits of a document id that tell the kind. The account of a session is of the same class as the
/// summaries of its turns.
const fn class_code(kind: RowKind) -> i64 {
    match kind {
        RowKind::Observation => 0,
        RowKind::Summary | RowKind::Account => 1,
        RowKind::Prompt => 2,
        RowKind::Message => 3,
    }
}

/// A range of document ids, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocIdRange {
    pub(super) first: i64,
    pub(super) last: i64,
}

impl DocIdRange {
    /// All ids of one owner.
    pub(super) fn for_owner(owner: ProjectId) -> Self {
        Self { first: owner.0 << OWNER_SHIFT, last: ((owner.0 + 1) << OWNER_SHIFT) - 1 }
    }

    /// The part of the range from `place` on.
    #[must_use]
    pub fn starting_at(self, place: DocId) -> Self {
        Self { first: place.0, ..self }
    }
}

/// The owners that a query covers, in id order, each with its highest sequence number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Corpus {
    owners: Vec<(ProjectId, i64)>,
    covers_all: bool,
    except: Option<ExceptedSession>,
}

/// The session that a corpus leaves out, with its documents in id order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ExceptedSession {
    session: SessionId,
    doc_ids: Vec<DocId>,
}

impl Corpus {
    /// How many documents the corpus holds, removed ones included.
    pub fn doc_count(&self) -> u64 {
        let all: u64 = self.owners.iter().map(|(_, texts)| *texts as u64).sum();
        all.saturating_sub(self.except.as_ref().map_or(0, |except| except.doc_ids.len() as u64))
    }

    /// The session that is left out.
    pub fn except_session(&self) -> Option<SessionId> {
        self.except.as_ref().map(|except| except.session)
    }

    /// Whether a document of its owners is left out.
    pub fn is_excepted(&self, place: DocId) -> bool {
        self.except.as_ref().is_some_and(|except| except.doc_ids.binary_search(&place).is_ok())
    }

    /// The id ranges to search.
    pub fn doc_id_ranges(&self) -> Vec<DocIdRange> {
        if self.covers_all {
            let (first, last) = (0, i64::MAX);
            return vec![DocIdRange { first, last }];
        }
        self.ranges_with_share().into_iter().map(|(span, _)| span).collect()
    }

    /// The id range of each owner, with its share of all documents.
    pub fn ranges_with_share(&self) -> Vec<(DocIdRange, f64)> {
        let all = self.doc_count().max(1) as f64;
        let owners = self.owners.iter();
        owners.map(|&(owner, texts)| (DocIdRange::for_owner(owner), texts as f64 / all)).collect()
    }

    /// How many documents of the corpus have this id or a smaller one.
    pub fn docs_up_to(&self, place: DocId) -> u64 {
        let owner = place.owner();
        let before = self.owners.iter().take_while(|(own, _)| *own < owner);
        let before: i64 = before.map(|(_, texts)| texts).sum();
        (before + place.sequence()) as u64
    }
}

impl RowFilter {
    /// Whether the class and owner encoded in the id are in scope.
    pub fn includes_doc_id(&self, place: DocId) -> bool {
        RowKind::ALL.into_iter().any(|kind| place.may_be(kind) && self.includes_kind(kind))
            && (self.project.is_none() && !self.user_level
                || !place.is_at_user_level()
                || place.may_be(RowKind::Observation))
    }
}

impl StoreReader<'_> {
    /// The corpus that a scope covers.
    pub fn corpus(&self, scope: &RowFilter) -> Result<Corpus, StoreError> {
        let is_everything = scope.project.is_none() && !scope.user_level;
        let mut owners = Vec::new();
        if is_everything {
            let mut below = i64::MAX;
            while let Some(last) = self.last_doc_id(0, below)? {
                owners.push((last.owner(), last.sequence()));
                below = (last.owner().0 << OWNER_SHIFT) - 1;
            }
            owners.reverse();
        } else {
            let everybodys = scope.user_level.then_some(NO_PROJECT);
            for owner in everybodys.into_iter().chain(scope.project) {
                owners.push((owner, self.last_sequence(owner)?));
            }
        }
        let except = match scope.except_session {
            Some(session) => Some(ExceptedSession { session, doc_ids: self.doc_ids_of_session(session)? }),
            None => None,
        };
        Ok(Corpus { owners, covers_all: is_everything, except })
    }

    /// The documents of a session, in id order.
    fn doc_ids_of_session(&self, session: SessionId) -> Result<Vec<DocId>, StoreError> {
        let mut rows = self.0.prepare_cached("SELECT id FROM texts WHERE session_id = ?1 ORDER BY id")?;
        let doc_ids = rows.query_map([session.0], |row| Ok(DocId(row.get(0)?)))?;
        Ok(doc_ids.collect::<Result<_, _>>()?)
    }

    /// The highest sequence number of an owner; 0 if it has no documents.
    pub(super) fn last_sequence(&self, owner: ProjectId) -> Result<i64, StoreError> {
        let DocIdRange { first, last } = DocIdRange::for_owner(owner);
        Ok(self.last_doc_id(first, last)?.map_or(0, DocId::sequence))
    }

    fn last_doc_id(&self, first: i64, last: i64) -> Result<Option<DocId>, StoreError> {
        let mut newest = self
            .0
            .prepare_cached("SELECT id FROM texts WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1")?;
        let place = newest.query_row([first, last], |row| Ok(DocId(row.get(0)?)));
        Ok(place.optional()?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Corpus, DocId, DocIdRange};
    use crate::RowKind;
    use claude_mem_core::ids::ProjectId;

    #[test]
    fn doc_id_encodes_owner_and_kind() {
        for kind in RowKind::ALL {
            let place = DocId::new(ProjectId(7), 3, kind);
            let others: Vec<RowKind> = RowKind::ALL.into_iter().filter(|kind| place.may_be(*kind)).collect();
            assert!(others.contains(&kind) && others.len() <= 2, "{kind:?}: {others:?}");
            assert_eq!(place.owner(), ProjectId(7));
            assert_eq!((place.sequence(), place.is_at_user_level()), (3, false));
        }
        assert!(DocId::new(ProjectId(0), 3, RowKind::Observation).is_at_user_level());
    }

    #[test]
    fn documents_of_an_owner_form_one_range() {
        let reach = Corpus { owners: vec![(ProjectId(0), 10), (ProjectId(4), 100)], ..Corpus::default() };
        let inside = |span: &DocIdRange, place: DocId| (span.first..=span.last).contains(&place.0);
        let at = |owner, sequence| DocId::new(ProjectId(owner), sequence, RowKind::Prompt);
        let spans = reach.doc_id_ranges();
        assert!(inside(&spans[0], at(0, 1)) && inside(&spans[1], at(4, 100)));
        assert!(!spans.iter().any(|span| inside(span, at(3, 1))));
        let newest = spans[1].starting_at(at(4, 76));
        assert!(inside(&newest, at(4, 76)) && !inside(&newest, at(4, 75)));
        let shares = reach.ranges_with_share().into_iter().map(|(_, share)| share);
        assert!((shares.sum::<f64>() - 1.0).abs() < 1e-9);
        assert_eq!(reach.doc_count(), 110);
        assert_eq!(reach.docs_up_to(at(4, 50)), 60);
    }
}
