//! Lexical retrieval: candidate documents from the FTS index, rarest query terms first.
//!
//! Of the weighed [`QueryTerms`], rare ones select postings and common ones only reorder them. BM25 is computed later, from the text of the candidates.

use crate::postings::PostingsLookup;
use crate::query::SearchQuery;
use crate::query_terms::QueryTerms;
use crate::ranking_config::RankingConfig;
use crate::scope::AllowedRows;
use claude_mem_store::{Corpus, DocId, RowFilter, RowId, StoreError, StoreReader};

/// Maximum postings that the terms of one query may read together. The rarest terms go first, and
/// at least one is read; very common terms only rank what the others found.
const QUERY_POSTINGS_MAX: u64 = 4_000;

/// The best postings for the query, as many as ranking reads.
pub(super) fn lexical_candidates(
    reads: &StoreReader<'_>,
    query: &SearchQuery,
    terms: &QueryTerms,
    scope: &RowFilter,
    reach: &Corpus,
    allowed: Option<&AllowedRows>,
    ranking: &RankingConfig,
) -> Result<Vec<DocId>, StoreError> {
    let is_sifted = allowed.is_some() || scope.since.is_some() || scope.until.is_some();
    let terms = terms.rarest_first();
    let most = match query.must {
        // Everything that matches the required clause is a result.
        Some(_) => 4 * ranking.candidates,
        None => ranking.candidates,
    };
    let mut lookup = PostingsLookup {
        reads,
        scope,
        ranges: reach.doc_id_ranges(),
        postings_max: QUERY_POSTINGS_MAX,
        candidates_max: most,
        scored: Vec::new(),
    };
    match &query.must {
        Some(demand) => lookup.match_required(demand, &terms)?,
        None => lookup.match_any(&terms, reach, is_sifted)?,
    }
    let mut best = lookup.scored;
    // Newest first among equals.
    best.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    let best = best.into_iter().map(|(place, _)| place).filter(|place| !reach.is_excepted(*place));
    if is_sifted { filter_postings(reads, scope, allowed, best, most) } else { Ok(best.take(most).collect()) }
}

/// The first `most` postings that pass the time range and filters. Stops as soon as it has enough.
fn filter_postings(
    reads: &StoreReader<'_>,
    scope: &RowFilter,
    allowed: Option<&AllowedRows>,
    places: impl Iterator<Item = DocId>,
    most: usize,
) -> Result<Vec<DocId>, StoreError> {
    let mut kept = Vec::with_capacity(most);
    for place in places {
        if kept.len() == most {
            break;
        }
        let Some(label) = reads.doc_header(place)? else {
            continue;
        };
        let is_in_time = scope.since.is_none_or(|since| label.created_at >= since)
            && scope.until.is_none_or(|until| label.created_at < until);
        let may_come = match allowed {
            Some(allowed) if is_in_time => allowed.contains(reads, RowId::new(label.kind, label.row_id))?,
            _ => is_in_time,
        };
        if may_come {
            kept.push(place);
        }
    }
    Ok(kept)
}
