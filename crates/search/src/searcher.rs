//! Answers one [`SearchRequest`]: resolves it, retrieves and ranks, and broadens the search if
//! nothing matches.
//!
//! The attempts run in order: the requested projects, then without required clauses, then the same
//! over all projects. The response's scope names the attempt that succeeded. If none does, the
//! response says so: it has the nearest rows, marked as such, or no rows.

use std::collections::HashSet;

use crate::candidates::collect_candidates;
use crate::elsewhere::exact_matches_elsewhere;
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

/// Maximum rows that are offered as near where nothing matches.
const NEAR_ROWS_MAX: usize = 10;
/// Minimum cosine of such a row.
const NEAR_COSINE_MIN: f64 = 0.25;

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
            return self.list_by_time(&asked);
        }
        let mut failed = None;
        let mut near: Option<(AnswerScope, Vec<SearchHit>)> = None;
        for (from, whose, fit) in attempts(&asked) {
            if fit == MatchQuality::Broader {
                asked.query.must = None;
            }
            let (mut hits, without_vectors) = self.ranked_hits(&asked, whose)?;
            failed = without_vectors.or(failed);
            if let (MatchQuality::Broader, Some(unwanted)) = (fit, &asked.query.must_not) {
                hits = self.exclude_matching(unwanted, hits)?;
            }
            let answers = asked.query.must.is_some() || hits.iter().any(SearchHit::fits);
            asked.query.must = asked.must.clone();
            if hits.is_empty() {
                continue;
            }
            let is_elsewhere = from == AnswerScope::OtherProjects;
            if is_elsewhere && near.is_some() && !matches_most_words(&hits, &asked.query) {
                continue;
            }
            if !answers {
                // Other projects may contain the query's words.
                if !is_elsewhere {
                    near.get_or_insert((from, hits));
                }
                continue;
            }
            let vectors = self.vectors.is_some() && failed.is_none();
            let mut scope = asked.response_scope(from, fit, vectors);
            if !is_elsewhere {
                scope.notes.extend(exact_matches_elsewhere(&self.reads, &asked, &hits)?);
            }
            return self.build_response(&asked, scope, &hits, failed);
        }
        let vectors = self.vectors.is_some() && failed.is_none();
        let (from, quality, mut hits) = match near {
            Some((from, hits)) => (from, MatchQuality::Near, hits),
            None => (asked.answer_scope, MatchQuality::Nothing, Vec::new()),
        };
        hits.truncate(NEAR_ROWS_MAX);
        let scope = asked.response_scope(from, quality, vectors);
        self.build_response(&asked, scope, &hits, failed)
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
            hits.retain(|hit| hit.parts.cosine.is_some_and(|cosine| cosine >= NEAR_COSINE_MIN));
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
            let near = match scope.quality {
                MatchQuality::Near => true,
                MatchQuality::Listed => false,
                _ => !hit.is_match(),
            };
            let item = items.build(hit.key(), hit.score, hit.parts.clone())?;
            results.extend(item.map(|item| SearchItem { near, ..item }));
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

    /// Lists rows by time, when the query has no words.
    fn list_by_time(&self, asked: &ResolvedQuery<'_>) -> Result<SearchResponse, StoreError> {
        let scope = asked.response_scope(asked.answer_scope, MatchQuality::Listed, false);
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

/// The attempts at one request, in order: scope of the answer, projects to search, match quality.
fn attempts(asked: &ResolvedQuery<'_>) -> Vec<(AnswerScope, ProjectScope, MatchQuality)> {
    let mut scopes = vec![(asked.answer_scope, asked.project_scope)];
    if asked.may_widen {
        scopes.push((AnswerScope::OtherProjects, ProjectScope::All));
    }
    let mut attempts = Vec::new();
    for (from, whose) in scopes {
        attempts.push((from, whose, MatchQuality::Full));
        if asked.query.must.is_some() {
            attempts.push((from, whose, MatchQuality::Broader));
        }
    }
    attempts
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
