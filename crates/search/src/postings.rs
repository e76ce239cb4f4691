//! Index lookups of one query, within a budget of postings.
//!
//! FTS5 can only list postings, so [`PostingsLookup`] lists those of the rarest terms until the
//! budget is spent and uses at most a few common terms to reorder the result.

use crate::query_terms::QueryTerm;
use claude_mem_store::{Corpus, DocId, DocIdRange, FtsColumn, FtsQuery, RowFilter, StoreError, StoreReader};

/// Extra weight of a term in the title: about what BM25 yields from the title's weight.
const TITLE_BOOST: f64 = 0.5;
/// Common terms with less than this share of the rarest term's weight are not looked up.
const COMMON_TERM_WEIGHT_MIN: f64 = 0.25;
/// Maximum common terms looked up.
const COMMON_TERMS_MAX: usize = 2;
/// Maximum postings of a required clause.
const REQUIRED_POSTINGS_MAX: u32 = 20_000;
/// Minimum postings per project for a term that occurs everywhere.
const NEWEST_PER_PROJECT_MIN: u32 = 64;
const NO_LIMIT: u32 = u32::MAX;

/// The lookups of one query and the postings found so far.
pub(super) struct PostingsLookup<'a> {
    pub(super) reads: &'a StoreReader<'a>,
    pub(super) scope: &'a RowFilter,
    pub(super) ranges: Vec<DocIdRange>,
    /// Budget of postings for all terms together.
    pub(super) postings_max: u64,
    /// How many candidates ranking will read.
    pub(super) candidates_max: usize,
    /// Postings in index order, each with the summed weight of its terms.
    pub(super) scored: Vec<(DocId, f64)>,
}

impl PostingsLookup<'_> {
    /// Finds documents that contain any of the terms.
    pub(super) fn match_any(
        &mut self,
        terms: &[&QueryTerm],
        reach: &Corpus,
        is_sifted: bool,
    ) -> Result<(), StoreError> {
        let Some(rarest) = terms.first() else {
            return Ok(());
        };
        let rare = self.add_rare_postings(terms)?;
        if rare == 0 && is_sifted {
            let places = self.postings(&rarest.expr(), NO_LIMIT)?.0;
            self.scored = merge_postings(&self.scored, &places, rarest.weight);
        } else if rare == 0 {
            // Even the rarest term exceeds the budget: any subset is as good as another, so take
            // the newest. With filters we cannot, because most of those may be filtered out.
            self.add_newest_postings(rarest, reach)?;
        }
        let (rare, common) = terms.split_at(rare.max(1));
        if self.scored.len() > self.candidates_max {
            let titles = FtsQuery::Column(FtsColumn::Title, Box::new(rarest.expr()));
            let titles = self.postings(&titles, NO_LIMIT)?.0;
            self.boost(&titles, TITLE_BOOST * rarest.weight);
        }
        let rare = rare.iter().map(|term| term.expr());
        self.boost_by_common_terms(&FtsQuery::Or(rare.collect()), rarest.weight, common)
    }

    /// Adds the postings of the rarest terms until the budget is spent. Returns how many terms were
    /// added.
    fn add_rare_postings(&mut self, terms: &[&QueryTerm]) -> Result<usize, StoreError> {
        let mut left = self.postings_max;
        for (at, term) in terms.iter().enumerate() {
            let places = match &term.postings {
                Some(all) if all.len() as u64 > left => return Ok(at),
                Some(all) => {
                    let inside = all.iter().filter(|place| self.scope.includes_doc_id(**place));
                    inside.copied().collect()
                }
                None if term.doc_freq > left => return Ok(at),
                // The document frequency is an estimate and may be far off.
                None => match self.postings(&term.expr(), left as u32 + 1)? {
                    (_, true) => return Ok(at),
                    (all, false) => all,
                },
            };
            left -= places.len() as u64;
            self.scored = merge_postings(&self.scored, &places, term.weight);
        }
        Ok(terms.len())
    }

    /// Adds a term's newest postings, per project by its share, and restricts all later lookups to
    /// that range.
    fn add_newest_postings(&mut self, term: &QueryTerm, reach: &Corpus) -> Result<(), StoreError> {
        self.ranges.clear();
        for (span, share) in reach.ranges_with_share() {
            let most = (share * self.postings_max as f64) as u32;
            let newest = self.reads.newest_matches(&term.expr(), span, most.max(NEWEST_PER_PROJECT_MIN))?;
            let Some(oldest) = newest.last() else {
                continue;
            };
            self.ranges.push(span.starting_at(*oldest));
            let inside = newest.iter().rev().filter(|place| self.scope.includes_doc_id(**place));
            self.scored.extend(inside.map(|place| (*place, term.weight)));
        }
        Ok(())
    }

    /// Finds documents that match the required clause.
    pub(super) fn match_required(
        &mut self,
        demand: &FtsQuery,
        terms: &[&QueryTerm],
    ) -> Result<(), StoreError> {
        let (places, is_cut) = self.postings(demand, REQUIRED_POSTINGS_MAX)?;
        match demand {
            // Split the limit between OR branches, so that a common branch does not crowd out a
            // rare one.
            FtsQuery::Or(any) if is_cut => {
                for one in any {
                    let places = self.postings(one, REQUIRED_POSTINGS_MAX / any.len() as u32)?.0;
                    self.scored = merge_postings(&self.scored, &places, 0.0);
                }
            }
            _ => self.scored = places.into_iter().map(|place| (place, 0.0)).collect(),
        }
        let rarest = terms.first().map_or(0.0, |term| term.weight);
        self.boost_by_common_terms(demand, rarest, terms)
    }

    /// Boosts documents that also contain one of the more common terms.
    fn boost_by_common_terms(
        &mut self,
        among: &FtsQuery,
        rarest: f64,
        terms: &[&QueryTerm],
    ) -> Result<(), StoreError> {
        if self.scored.len() <= self.candidates_max {
            // All of them are read anyway.
            return Ok(());
        }
        let telling = terms.iter().filter(|term| term.weight >= COMMON_TERM_WEIGHT_MIN * rarest);
        for term in telling.take(COMMON_TERMS_MAX) {
            let what = FtsQuery::And(vec![among.clone(), term.expr()]);
            let places = self.postings(&what, NO_LIMIT)?.0;
            self.boost(&places, term.weight);
        }
        Ok(())
    }

    /// The postings within the scope, and whether the limit was hit before all were listed.
    fn postings(&self, what: &FtsQuery, limit: u32) -> Result<(Vec<DocId>, bool), StoreError> {
        let (mut places, mut seen) = (Vec::new(), 0);
        self.reads.for_each_match(what, &self.ranges, limit, |place| {
            seen += 1;
            if self.scope.includes_doc_id(place) {
                places.push(place);
            }
        })?;
        Ok((places, seen == limit))
    }

    /// Adds `by` to the weight of postings already found.
    fn boost(&mut self, places: &[DocId], by: f64) {
        let mut found = self.scored.iter_mut().peekable();
        for place in places {
            while found.next_if(|(at, _)| at < place).is_some() {}
            if let Some((_, weight)) = found.next_if(|(at, _)| at == place) {
                *weight += by;
            }
        }
    }
}

/// Merges two posting lists in index order, adding up weights.
fn merge_postings(found: &[(DocId, f64)], places: &[DocId], weight: f64) -> Vec<(DocId, f64)> {
    let mut both = Vec::with_capacity(found.len() + places.len());
    let mut found = found.iter().copied().peekable();
    for &place in places {
        while let Some(before) = found.next_if(|(at, _)| *at < place) {
            both.push(before);
        }
        let had = found.next_if(|(at, _)| *at == place);
        both.push((place, had.map_or(0.0, |(_, weight)| weight) + weight));
    }
    both.extend(found);
    both
}

#[cfg(test)]
#[path = "postings_tests.rs"]
mod tests;
