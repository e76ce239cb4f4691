//! Answers one [`SearchRequest`]: resolves it, retrieves and ranks, and broadens the search if
//! nothing matches.
//!
//! The attempts run in order: the requested projects, then without required clauses, then the same
//! over all projects. The response's scope names the attempt that succeeded.

use std::collections::HashSet;

use crate::candidates::collect_candidates;
use crate::items::ItemBuilder;
use crate::query::SearchQuery;
use crate::rank::{ScoreParts, SearchHit, rank_candidates};
use crate::ranking_config::RankingConfig;
use crate::request::{
    AnswerScope, MatchQuality, ProjectScope, ResponseScope, SearchItem, SearchRequest, SearchResponse,
};
use crate::rerank::rerank;
use crate::resolve::ResolvedQuery;
use crate::vectors::VectorRetriever;
use claude_mem_core::ids::ObservationId;
use claude_mem_store::{FtsQuery, PageRequest, RowId, RowKind, StoreError, StoreReader};

/// Maximum rows scanned to fill one page of a filtered list.
const LISTED_ROWS_MAX: usize = 20_000;

/// Maximum rows reachable by paging through ranked results.
const PAGED_ROWS_MAX: usize = 1_000;

/// Runs searches over one snapshot of the store.
#[derive(Debug)]
pub struct Searcher<'a> {
    reads: StoreReader<'a>,
    vectors: Option<VectorRetriever<'a>>,
    ranking: RankingConfig,
}

impl<'a> Searcher<'a> {
    /// Without a [`VectorRetriever`] the search is lexical only.
    pub fn new(reads: StoreReader<'a>, vectors: Option<VectorRetriever<'a>>) -> Self {
        Self { reads, vectors, ranking: RankingConfig::default() }
    }

    /// Answers a request. Fails only if the store does, never because of the request's text.
    pub fn search(&mut self, ask: &SearchRequest) -> Result<SearchResponse, StoreError> {
        let mut asked = ResolvedQuery::resolve(&self.reads, ask)?;
        if asked.query.is_empty() {
            return self.list_by_time(&asked, MatchQuality::Listed);
        }
        let mut nets = vec![(asked.answer_scope, asked.project_scope, MatchQuality::Full)];
        if asked.query.must.is_some() {
            nets.push((asked.answer_scope, asked.project_scope, MatchQuality::Broader));
        }
        if asked.may_widen {
            nets.push((AnswerScope::OtherProjects, ProjectScope::All, MatchQuality::Full));
            if asked.query.must.is_some() {
                nets.push((AnswerScope::OtherProjects, ProjectScope::All, MatchQuality::Broader));
            }
        }
        let mut failed = None;
        let mut faint = None;
        for (from, whose, fit) in nets {
            if fit == MatchQuality::Broader {
                asked.query.must = None;
            }
            let (mut hits, without_vectors) = self.ranked_hits(&asked, whose)?;
            failed = without_vectors.or(failed);
            if let (MatchQuality::Broader, Some(unwanted)) = (fit, &asked.query.must_not) {
                hits = self.exclude_matching(unwanted, hits)?;
            }
            let is_faint = asked.query.must.is_none() && is_weak(&hits);
            asked.query.must = asked.must.clone();
            if hits.is_empty() {
                continue;
            }
            if from == AnswerScope::OtherProjects {
                if faint.is_some() && !matches_most_words(&hits, &asked.query) {
                    continue;
                }
            } else if is_faint && asked.may_widen {
                // Other projects may contain the query's words.
                faint.get_or_insert((from, fit, hits));
                continue;
            }
            let mut scope = asked.response_scope(from, fit, self.vectors.is_some() && failed.is_none());
            scope.notes.extend(is_faint.then(|| WEAK_MATCH_NOTE.to_owned()));
            return self.build_response(&asked, scope, &hits, failed);
        }
        if let Some((from, fit, hits)) = faint {
            let mut scope = asked.response_scope(from, fit, self.vectors.is_some() && failed.is_none());
            scope.notes.push(WEAK_MATCH_NOTE.to_owned());
            return self.build_response(&asked, scope, &hits, failed);
        }
        if ask.fallback_to_recent {
            let mut found = self.list_by_time(&asked, MatchQuality::Recent)?;
            found.vectors_unavailable = failed.map(|why| why.to_string());
            return Ok(found);
        }
        let scope = asked.response_scope(
            asked.answer_scope,
            MatchQuality::Full,
            self.vectors.is_some() && failed.is_none(),
        );
        self.build_response(&asked, scope, &[], failed)
    }

    /// Ranked hits for one scope. Pages beyond the first candidates rank a wider set, appended so
    /// that earlier pages keep their order.
    fn ranked_hits(
        &mut self,
        asked: &ResolvedQuery<'_>,
        whose: ProjectScope,
    ) -> Result<(Vec<SearchHit>, Option<StoreError>), StoreError> {
        let (mut hits, without_vectors) = self.rank_with(asked, whose, self.ranking)?;
        let page = asked.request.page;
        if page.offset as usize + page.row_limit() as usize >= self.ranking.candidates {
            let wide = RankingConfig {
                candidates: PAGED_ROWS_MAX,
                vector_candidates: PAGED_ROWS_MAX,
                ..self.ranking
            };
            let (more, _) = self.rank_with(asked, whose, wide)?;
            let have: HashSet<RowId> = hits.iter().map(SearchHit::key).collect();
            hits.extend(more.into_iter().filter(|hit| !have.contains(&hit.key())));
        }
        Ok((hits, without_vectors))
    }

    /// Retrieves, ranks and reranks with the given configuration.
    fn rank_with(
        &mut self,
        asked: &ResolvedQuery<'_>,
        whose: ProjectScope,
        ranking: RankingConfig,
    ) -> Result<(Vec<SearchHit>, Option<StoreError>), StoreError> {
        let scope = asked.word_scope(whose);
        let allowed = asked.allowed_rows(&self.reads, whose)?;
        let (query, vectors) = (&asked.query, self.vectors.as_mut());
        let candidates = collect_candidates(&self.reads, query, &scope, allowed.as_ref(), vectors, &ranking)?;
        let mut hits = rank_candidates(&candidates, &ranking);
        if asked.query.must.is_some() {
            // Every hit matches the required clause.
        } else if hits.iter().any(SearchHit::is_match) {
            hits.retain(|hit| hit.has_evidence(&ranking));
        } else {
            hits.clear();
        }
        Ok((rerank(&self.reads, asked, hits)?, candidates.vectors_unavailable))
    }

    /// The hits whose text does not match `unwanted`.
    fn exclude_matching(
        &self,
        unwanted: &FtsQuery,
        hits: Vec<SearchHit>,
    ) -> Result<Vec<SearchHit>, StoreError> {
        let mut kept = Vec::with_capacity(hits.len());
        for hit in hits {
            if !self.reads.row_matches_query(unwanted, hit.key())? {
                kept.push(hit);
            }
        }
        Ok(kept)
    }

    /// Builds the response for the requested page of `hits`.
    fn build_response(
        &self,
        asked: &ResolvedQuery<'_>,
        scope: ResponseScope,
        hits: &[SearchHit],
        without_vectors: Option<StoreError>,
    ) -> Result<SearchResponse, StoreError> {
        let (offset, limit) = (asked.request.page.offset as usize, asked.request.page.row_limit() as usize);
        let mut items = ItemBuilder::new(&self.reads);
        let mut results = Vec::with_capacity(limit);
        let mut wanted = hits.iter().filter(|hit| !asked.excludes(hit)).skip(offset);
        for hit in wanted.by_ref().take(limit) {
            results.extend(items.build(hit.key(), hit.score, hit.parts.clone())?);
        }
        Ok(SearchResponse {
            scope,
            results,
            has_more: wanted.next().is_some(),
            vectors_unavailable: without_vectors.map(|why| why.to_string()),
        })
    }

    /// The first rows that do not match `unwanted`: enough for the page and one more.
    fn first_not_matching(
        &self,
        unwanted: &FtsQuery,
        keys: Vec<RowId>,
        page: PageRequest,
    ) -> Result<Vec<RowId>, StoreError> {
        let most = page.offset as usize + page.row_limit() as usize + 1;
        let mut kept = Vec::new();
        for key in keys {
            if kept.len() == most {
                break;
            }
            if !self.reads.row_matches_query(unwanted, key)? {
                kept.push(key);
            }
        }
        Ok(kept)
    }

    /// Lists rows by time, when the query has no words or nothing matched.
    fn list_by_time(
        &self,
        asked: &ResolvedQuery<'_>,
        fit: MatchQuality,
    ) -> Result<SearchResponse, StoreError> {
        let scope = asked.response_scope(asked.answer_scope, fit, false);
        let words = asked.word_scope(asked.project_scope);
        let page = asked.request.page;
        // More than one page, because rows marked as wrong are dropped below.
        let page_rows = page.offset as usize + page.row_limit() as usize + 200;
        let most = match asked.query.must_not {
            Some(_) => LISTED_ROWS_MAX,
            None => page_rows.min(LISTED_ROWS_MAX),
        };
        let mut keys = match asked.filter(&words) {
            Some(filter) => self.reads.first_matching_rows(&filter, most)?,
            None => self.reads.rows_by_time(&words, most)?,
        };
        let ids: Vec<ObservationId> = keys
            .iter()
            .filter(|key| key.kind == RowKind::Observation)
            .map(|key| ObservationId(key.row_id))
            .collect();
        let verdicts = self.reads.observation_standings(&ids)?;
        keys.retain(|key| {
            let wrong = key.kind == RowKind::Observation
                && verdicts.get(&ObservationId(key.row_id)).is_some_and(|verdict| verdict.wrong);
            asked.request.include_wrong || !wrong
        });
        if let Some(unwanted) = &asked.query.must_not {
            keys = self.first_not_matching(unwanted, keys, page)?;
        }
        let hits: Vec<SearchHit> = keys.into_iter().map(SearchHit::unscored).collect();
        self.build_response(asked, scope, &hits, None)
    }
}

/// The note on results that match only weakly and only by meaning.
const WEAK_MATCH_NOTE: &str = "no memory contains these words; showing the closest in meaning";

/// Whether all hits match by meaning only and weakly. A large store always has such hits.
fn is_weak(hits: &[SearchHit]) -> bool {
    const NEAR: f64 = 0.45;
    hits.iter().all(|hit| hit.parts.matched.is_empty() && hit.parts.cosine.is_none_or(|cosine| cosine < NEAR))
}

/// Whether one hit contains at least half of the query's words.
fn matches_most_words(hits: &[SearchHit], query: &SearchQuery) -> bool {
    let most = query.words.len().div_ceil(2).max(1);
    hits.iter().any(|hit| hit.parts.matched.len() >= most)
}

/// Loads rows by handle, in the given order; deleted rows are skipped.
pub fn load_items(reads: &StoreReader<'_>, handles: &[RowId]) -> Result<Vec<SearchItem>, StoreError> {
    let mut items = ItemBuilder::new(reads);
    let mut found = Vec::with_capacity(handles.len());
    for handle in handles {
        found.extend(items.build(*handle, 0.0, ScoreParts::default())?);
    }
    Ok(found)
}

#[cfg(test)]
#[path = "searcher_tests.rs"]
mod tests;
