//! The terms of a query, one per stem, weighed by IDF: [`QueryTerms`].

use crate::query::SearchQuery;
use crate::ranking_config::RankingConfig;
use crate::stem::stem;
use claude_mem_store::{Corpus, DocId, FtsQuery, RowFilter, StoreError, StoreReader};

/// One query term with its IDF weight and document frequency.
#[derive(Clone, Debug)]
pub(super) struct QueryTerm {
    pub(super) word: String,
    pub(super) stem: String,
    pub(super) weight: f64,
    /// Document frequency; an estimate for common terms.
    pub(super) doc_freq: u64,
    /// The postings, for a term rare enough to have been listed.
    pub(super) postings: Option<Vec<DocId>>,
}

impl QueryTerm {
    pub(super) fn expr(&self) -> FtsQuery {
        FtsQuery::Term(self.word.clone())
    }
}

/// The query's terms in typed order, one per stem.
#[derive(Debug)]
pub(super) struct QueryTerms(Vec<QueryTerm>);

impl QueryTerms {
    /// Looks up and weighs the query's terms, keeping at most `terms_max` of the rarest.
    pub(super) fn select(
        reads: &StoreReader<'_>,
        query: &SearchQuery,
        reach: &Corpus,
        ranking: &RankingConfig,
    ) -> Result<Self, StoreError> {
        let everywhere =
            reads.corpus(&RowFilter { except_session: reach.except_session(), ..RowFilter::default() })?;
        let rarity = |count: u64, of: &Corpus| {
            let all = of.doc_count() as f64 + ranking.smoothing_docs;
            (all / (count as f64 + 0.5)).ln().max(0.05)
        };
        let mut terms: Vec<QueryTerm> = Vec::new();
        // A stack, because an unknown compound is replaced by its parts.
        let mut words: Vec<(&String, bool)> = query.words.iter().map(|word| (word, true)).collect();
        words.reverse();
        while let Some((word, is_whole)) = words.pop() {
            let stem = stem(word);
            if terms.iter().any(|term| term.stem == stem) {
                continue;
            }
            let listed = reads.postings(word, reach)?;
            let count = listed.doc_freq;
            if let Some(parts) = query.compound_parts(word).filter(|_| count == 0 && is_whole) {
                // The compound is not in the index; its parts may be.
                words.extend(parts.iter().rev().map(|part| (part, false)));
                continue;
            }
            // The document frequency in a small project is noisy, and a term that is rare elsewhere
            // may be this project's main subject: average both IDFs.
            let mut weight = rarity(count, reach);
            if *reach != everywhere {
                let elsewhere = reads.postings(word, &everywhere)?.doc_freq;
                weight = f64::midpoint(weight, rarity(elsewhere, &everywhere));
            }
            terms.push(QueryTerm {
                word: word.clone(),
                stem,
                weight,
                doc_freq: count,
                postings: listed.doc_ids,
            });
        }
        if terms.len() > ranking.terms_max {
            // Terms that match nothing sort last: they cannot discriminate.
            let room = |term: &QueryTerm| (term.doc_freq == 0, term.doc_freq);
            let mut rooms: Vec<_> = terms.iter().map(room).collect();
            rooms.sort_unstable();
            let last = rooms[ranking.terms_max - 1];
            terms.retain(|term| room(term) <= last);
            terms.truncate(ranking.terms_max);
        }
        Ok(Self(terms))
    }

    pub(super) fn into_stems(self) -> Vec<(String, f64)> {
        let terms = self.0.into_iter();
        terms.map(|term| (term.stem, term.weight)).collect()
    }

    /// The terms with at least one posting, rarest first.
    pub(super) fn rarest_first(&self) -> Vec<&QueryTerm> {
        let mut terms: Vec<&QueryTerm> = self.0.iter().filter(|term| term.doc_freq > 0).collect();
        terms.sort_by_key(|term| term.doc_freq);
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::{QueryTerm, QueryTerms};

    #[test]
    fn unmatched_terms_do_not_displace_matched_ones() {
        let term = |word: &str, count| QueryTerm {
            word: word.to_owned(),
            stem: word.to_owned(),
            weight: 1.0,
            doc_freq: count,
            postings: None,
        };
        let terms = QueryTerms(vec![term("common", 8_000), term("nowhere", 0)]);
        let asked = terms.rarest_first();
        assert_eq!(asked[0].word, "common");
    }
}
