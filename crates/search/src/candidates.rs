//! Collects candidate rows from lexical and vector retrieval, with everything ranking needs to
//! score them.
//!
//! [`collect_candidates`] returns a [`CandidateSet`]. Invariant: every candidate is within the
//! requested scope and filters, whichever way it was found.

use std::collections::{HashMap, HashSet};

pub use crate::candidate::{Candidate, CandidateSet};
use crate::coverage::TermMatcher;
use crate::identifiers::{self, QueryIdentifier};
use crate::lexical::lexical_candidates;
use crate::quantize::QuantizedQuery;
use crate::query::SearchQuery;
use crate::query_terms::QueryTerms;
use crate::rank::top_candidates;
use crate::ranking_config::RankingConfig;
use crate::scope::AllowedRows;
use crate::vectors::{VectorMatches, VectorRetriever};
use crate::verify::{document_matches, needs_document};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::SessionId;
use claude_mem_store::{DocId, FtsQuery, IndexedDocument, RowFilter, RowId, StoreError, StoreReader};

/// Neighbours on each side whose score a short row can take over.
const NEIGHBOURS_EACH_SIDE: u32 = 2;

/// Runs both retrievers. Lexical candidates are read while the encoder thread embeds the query.
pub fn collect_candidates(
    reads: &StoreReader<'_>,
    query: &SearchQuery,
    scope: &RowFilter,
    allowed: Option<&AllowedRows>,
    retriever: Option<&mut VectorRetriever<'_>>,
    ranking: &RankingConfig,
) -> Result<CandidateSet, StoreError> {
    let text = query.semantic_text.as_str();
    let retriever = retriever.filter(|_| !text.trim().is_empty());
    let question = retriever.as_ref().map(|retriever| retriever.start_encoding(text));
    let reach = reads.corpus(scope)?;
    let terms = QueryTerms::select(reads, query, &reach, ranking)?;
    let few =
        allowed.and_then(|rows| rows.small_set(2 * ranking.candidates)).filter(|_| query.must.is_none());
    let leads = match few {
        // Scoring every allowed row is cheaper than an index lookup.
        Some(_) => Vec::new(),
        None => lexical_candidates(reads, query, &terms, scope, &reach, allowed, ranking)?,
    };
    let mut gathering = CandidateCollector {
        reads,
        scope,
        allowed,
        matcher: TermMatcher::new(terms.into_stems()),
        identifiers: &query.identifiers,
        must_on_text: query.must.as_ref().filter(|demand| needs_document(demand)),
        matches: VectorMatches::new(),
        vectors: None,
        has_must: query.must.is_some(),
        rows: HashMap::new(),
    };
    if let Some(few) = few {
        gathering.add_keys(few.iter().copied(), ranking)?;
        gathering.rows.retain(|_, row| row.has_any_term());
    }
    gathering.add_lexical(leads, ranking)?;
    let mut without_vectors = None;
    let mut query_vector = None;
    if let (Some(retriever), Some(question)) = (retriever, question) {
        let probe = retriever.quantized_query(question);
        match retriever.nearest(&probe, scope, allowed) {
            Ok(near) => {
                query_vector = Some(probe.clone());
                gathering.add_vector_matches(near, retriever, probe)?;
            }
            Err(e) => without_vectors = Some(e),
        }
    }
    gathering.expand(ranking)?;
    let (terms, weights) = gathering.matcher.into_stems().into_iter().unzip();
    Ok(CandidateSet {
        rows: gathering.rows,
        terms,
        weights,
        periods: query.periods.clone(),
        query_vector,
        vectors_unavailable: without_vectors,
    })
}

/// Builds the candidate set of one query.
struct CandidateCollector<'a> {
    reads: &'a StoreReader<'a>,
    scope: &'a RowFilter,
    allowed: Option<&'a AllowedRows>,
    matcher: TermMatcher,
    identifiers: &'a [QueryIdentifier],
    /// The required clause, if it must be verified on the stored text.
    must_on_text: Option<&'a FtsQuery>,
    matches: VectorMatches,
    vectors: Option<(&'a VectorRetriever<'a>, QuantizedQuery)>,
    /// The query has a required clause, so only lexical matches qualify.
    has_must: bool,
    rows: HashMap<RowId, Candidate>,
}

impl<'a> CandidateCollector<'a> {
    /// Adds the lexical candidates at these postings.
    fn add_lexical(&mut self, leads: Vec<DocId>, ranking: &RankingConfig) -> Result<(), StoreError> {
        let mut documents = Vec::with_capacity(leads.len());
        for place in leads {
            documents.extend(self.reads.document_by_id(place)?);
        }
        if let Some(demand) = self.must_on_text {
            documents.retain(|document| document_matches(document, demand));
        }
        self.add(documents, ranking)
    }

    /// Takes the vector matches and sets the cosine of the candidates collected so far.
    fn add_vector_matches(
        &mut self,
        near: VectorMatches,
        retriever: &'a VectorRetriever<'a>,
        probe: QuantizedQuery,
    ) -> Result<(), StoreError> {
        self.matches = near;
        self.vectors = Some((retriever, probe));
        let here: Vec<RowId> = self.rows.keys().copied().collect();
        self.attach_cosines(&here)
    }

    /// Adds the nearest rows by vector, then the neighbours of the best candidates.
    fn expand(&mut self, ranking: &RankingConfig) -> Result<(), StoreError> {
        if !self.has_must {
            let nearest = self.nearest_rows(ranking)?;
            self.add_keys(nearest, ranking)?;
            let mut company = HashSet::new();
            for key in top_candidates(&self.rows, &self.matcher.weights(), ranking) {
                company.extend(self.neighbours(key, &self.rows[&key])?);
            }
            self.add_keys(company, ranking)?;
        }
        self.link_neighbours(ranking)
    }

    /// The nearest rows by vector that pass the filters.
    fn nearest_rows(&self, ranking: &RankingConfig) -> Result<Vec<RowId>, StoreError> {
        let excepted: HashSet<RowId> = match self.scope.except_session {
            Some(session) => {
                let rows = self.reads.session_between(session, Millis(i64::MIN), Millis(i64::MAX))?;
                rows.into_iter().map(|(_, key)| key).collect()
            }
            None => HashSet::new(),
        };
        let others = self.matches.iter().filter(|(key, _)| !excepted.contains(key));
        let scores = others.map(|(key, near)| (*key, near.score));
        let mut near: Vec<(RowId, f64)> = scores.collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut best = Vec::with_capacity(ranking.vector_candidates);
        for (key, _) in near {
            if best.len() == ranking.vector_candidates {
                break;
            }
            let may_come = match self.allowed {
                Some(allowed) => allowed.contains(self.reads, key)?,
                None => true,
            };
            if may_come {
                best.push(key);
            }
        }
        Ok(best)
    }

    /// Adds these rows, unless they are candidates already.
    fn add_keys(
        &mut self,
        keys: impl IntoIterator<Item = RowId>,
        ranking: &RankingConfig,
    ) -> Result<(), StoreError> {
        let mut documents = Vec::new();
        for key in keys {
            if !self.rows.contains_key(&key) {
                documents.extend(self.reads.document(key)?);
            }
        }
        self.add(documents, ranking)
    }

    /// Adds the documents that are in scope.
    fn add(&mut self, documents: Vec<IndexedDocument>, ranking: &RankingConfig) -> Result<(), StoreError> {
        let mut added = Vec::with_capacity(documents.len());
        for document in documents {
            if self.is_in_scope(&document)? {
                let key = RowId::new(document.kind, document.row_id);
                self.rows.insert(key, self.candidate(document, ranking));
                added.push(key);
            }
        }
        self.attach_cosines(&added)
    }

    /// Sets the cosine of these rows where their vectors match the current text.
    fn attach_cosines(&mut self, keys: &[RowId]) -> Result<(), StoreError> {
        let Some((retriever, probe)) = &self.vectors else {
            return Ok(());
        };
        let unknown = keys.iter().filter(|key| !self.matches.contains_key(key));
        let found = retriever.similarities(probe, unknown.copied())?;
        self.matches.extend(found);
        for key in keys {
            if let (Some(row), Some(near)) = (self.rows.get_mut(key), self.matches.get(key)) {
                row.cosine = (near.text_hash == row.document.text_hash).then_some(near.score);
            }
        }
        Ok(())
    }

    /// Links short rows to their neighbours. Only candidates contribute context, so a session is
    /// read from its first to its last candidate, and not at all if it has fewer than two.
    fn link_neighbours(&mut self, ranking: &RankingConfig) -> Result<(), StoreError> {
        let mut sessions: HashMap<SessionId, Vec<(Millis, RowId)>> = HashMap::new();
        for (&key, row) in &self.rows {
            if let Some(session) = row.document.session {
                let at = row.document.created_at;
                sessions.entry(session).or_default().push((at, key));
            }
        }
        for (session, members) in sessions {
            let times = || members.iter().map(|(at, _)| *at);
            let (Some(first), Some(last)) = (times().min(), times().max()) else {
                continue;
            };
            if members.len() < 2 {
                continue;
            }
            let order = self.reads.session_between(session, first, last)?;
            for (at, key) in members {
                let Some(row) = self.rows.get_mut(&key) else {
                    continue;
                };
                // Longer rows are scored without context.
                if row.stats.length < ranking.short_doc_words[1] as usize {
                    row.neighbours = neighbours_in_time(&order, at, key);
                }
            }
        }
        Ok(())
    }

    /// Whether a document is within the scope and filters.
    fn is_in_scope(&self, document: &IndexedDocument) -> Result<bool, StoreError> {
        let RowFilter { since, until, except_session, .. } = self.scope;
        let key = RowId::new(document.kind, document.row_id);
        let is_inside = self.scope.includes_owner(document.project, document.is_at_user_level())
            && self.scope.includes_kind(document.kind)
            && (except_session.is_none() || document.session != *except_session)
            && since.is_none_or(|since| document.created_at >= since)
            && until.is_none_or(|until| document.created_at < until);
        match self.allowed {
            Some(allowed) if is_inside => allowed.contains(self.reads, key),
            _ => Ok(is_inside),
        }
    }

    /// The rows around this one in its session.
    fn neighbours(&self, key: RowId, row: &Candidate) -> Result<Vec<RowId>, StoreError> {
        let Some(session) = row.document.session else {
            return Ok(Vec::new());
        };
        let at = row.document.created_at;
        let around = self.reads.session_neighbours(session, at, NEIGHBOURS_EACH_SIDE)?;
        Ok(around.into_iter().filter(|near| *near != key).collect())
    }

    /// Scores a document against the query's terms and identifiers.
    fn candidate(&self, document: IndexedDocument, ranking: &RankingConfig) -> Candidate {
        let IndexedDocument { title, body, tags, split, .. } = &document;
        let fields = [title, body, tags, split].map(String::as_str);
        Candidate {
            stats: self.matcher.read(fields, ranking.field_weights),
            cosine: None,
            identifier_share: identifiers::identifier_share(self.identifiers, [title, body, tags]),
            neighbours: Vec::new(),
            document,
        }
    }
}

/// The rows nearest in time before and after `at`, without the row itself.
fn neighbours_in_time(order: &[(Millis, RowId)], at: Millis, own: RowId) -> Vec<RowId> {
    let each_side = NEIGHBOURS_EACH_SIDE as usize;
    let before = order.partition_point(|(time, _)| *time < at);
    let after = order.partition_point(|(time, _)| *time <= at);
    let earlier = order[..before].iter().rev().take(each_side);
    let later = order[after..].iter().take(each_side);
    let keys = earlier.chain(later).map(|(_, key)| *key);
    keys.filter(|key| *key != own).collect()
}
