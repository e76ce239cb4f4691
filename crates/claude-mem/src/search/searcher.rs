//! One question, answered: filters resolved, both legs asked, and where nothing is found, a
//! wider net, said as such.

use std::collections::HashSet;

use super::ask::{Ask, Fit, Found, From, Item, Order, Scope, Whose};
use super::asked::Asked;
use super::handle::Handle;
use super::items::Items;
use super::query::Query;
use super::rank::{Hit, Parts, Ranking, RowKey, rank};
use super::vectors::VectorLeg;
use crate::ids::ObservationId;
use crate::store::{Expr, Page, Reads, RowKind, StoreError};

/// Rows that are looked at to fill one page of a filtered list.
const LISTED_ROWS_MAX: usize = 20_000;

/// Rows that can be turned to, page by page. Nobody reads on for so long.
const PAGED_ROWS_MAX: usize = 1_000;

/// The calls of search, over one view of the store.
#[derive(Debug)]
pub struct Searcher<'a> {
    pub(super) reads: Reads<'a>,
    leg: Option<VectorLeg<'a>>,
    ranking: Ranking,
}

impl<'a> Searcher<'a> {
    /// Without a leg it works on words alone.
    pub fn new(reads: Reads<'a>, leg: Option<VectorLeg<'a>>) -> Self {
        Self {
            reads,
            leg,
            ranking: Ranking::default(),
        }
    }

    /// Never fails for what was typed, only for what became of the file.
    pub fn search(&mut self, ask: &Ask) -> Result<Found, StoreError> {
        let mut asked = Asked::resolve(&self.reads, ask)?;
        if asked.query.is_empty() {
            return self.list(&asked, Fit::Listed);
        }
        let mut nets = vec![(asked.from, asked.whose, Fit::Asked)];
        if asked.query.demand.is_some() {
            nets.push((asked.from, asked.whose, Fit::Broader));
        }
        if asked.may_widen {
            nets.push((From::OtherProjects, Whose::All, Fit::Asked));
            if asked.query.demand.is_some() {
                nets.push((From::OtherProjects, Whose::All, Fit::Broader));
            }
        }
        let mut failed = None;
        let mut faint = None;
        for (from, whose, fit) in nets {
            if fit == Fit::Broader {
                asked.query.demand = None;
            }
            let (mut hits, without_vectors) = self.ranked(&asked, whose)?;
            failed = without_vectors.or(failed);
            if let (Fit::Broader, Some(unwanted)) = (fit, &asked.query.unwanted) {
                hits = self.without(unwanted, hits)?;
            }
            let is_faint = asked.query.demand.is_none() && is_faint(&hits);
            asked.query.demand = asked.demand.clone();
            if hits.is_empty() {
                continue;
            }
            if from == From::OtherProjects {
                if faint.is_some() && !speaks_of_most(&hits, &asked.query) {
                    continue;
                }
            } else if is_faint && asked.may_widen {
                // Others may have the very words.
                faint.get_or_insert((from, fit, hits));
                continue;
            }
            let mut scope = asked.scope(from, fit, self.leg.is_some() && failed.is_none());
            scope.notes.extend(is_faint.then(|| FAINT.to_owned()));
            return self.page(&asked, scope, &hits, failed);
        }
        if let Some((from, fit, hits)) = faint {
            let mut scope = asked.scope(from, fit, self.leg.is_some() && failed.is_none());
            scope.notes.push(FAINT.to_owned());
            return self.page(&asked, scope, &hits, failed);
        }
        if ask.fall_back {
            let mut found = self.list(&asked, Fit::Recent)?;
            found.without_vectors = failed.map(|why| why.to_string());
            return Ok(found);
        }
        let scope = asked.scope(
            asked.from,
            Fit::Asked,
            self.leg.is_some() && failed.is_none(),
        );
        self.page(&asked, scope, &[], failed)
    }

    /// The best. Whoever turns to a page behind them is shown those as they were, and then what is
    /// found when more is read.
    fn ranked(
        &mut self,
        asked: &Asked<'_>,
        whose: Whose,
    ) -> Result<(Vec<Hit>, Option<StoreError>), StoreError> {
        let (mut hits, without_vectors) = self.ranked_by(asked, whose, self.ranking)?;
        let page = asked.ask.page;
        if page.offset as usize + page.rows() as usize >= self.ranking.candidates {
            let wide = Ranking {
                candidates: PAGED_ROWS_MAX,
                nearest: PAGED_ROWS_MAX,
                ..self.ranking
            };
            let (more, _) = self.ranked_by(asked, whose, wide)?;
            let have: HashSet<RowKey> = hits.iter().map(Hit::key).collect();
            hits.extend(more.into_iter().filter(|hit| !have.contains(&hit.key())));
        }
        Ok((hits, without_vectors))
    }

    fn ranked_by(
        &mut self,
        asked: &Asked<'_>,
        whose: Whose,
        ranking: Ranking,
    ) -> Result<(Vec<Hit>, Option<StoreError>), StoreError> {
        let scope = asked.word_scope(whose);
        let allowed = asked.allowed(&self.reads, whose)?;
        let ranked = rank(
            &self.reads,
            &asked.query,
            &scope,
            allowed.as_ref(),
            self.leg.as_mut(),
            &ranking,
        )?;
        let mut hits = ranked.hits;
        if asked.query.demand.is_some() {
            // All of them have what was demanded.
        } else if hits.iter().any(Hit::is_match) {
            hits.retain(|hit| hit.has_evidence(&ranking));
        } else {
            hits.clear();
        }
        Ok((self.judged(asked, hits)?, ranked.without_vectors))
    }

    /// Those that do not have it.
    fn without(&self, unwanted: &Expr, hits: Vec<Hit>) -> Result<Vec<Hit>, StoreError> {
        let mut kept = Vec::with_capacity(hits.len());
        for hit in hits {
            if !self.reads.has_in_text(unwanted, hit.key())? {
                kept.push(hit);
            }
        }
        Ok(kept)
    }

    fn page(
        &self,
        asked: &Asked<'_>,
        scope: Scope,
        hits: &[Hit],
        without_vectors: Option<StoreError>,
    ) -> Result<Found, StoreError> {
        let (offset, limit) = (
            asked.ask.page.offset as usize,
            asked.ask.page.rows() as usize,
        );
        let mut items = Items::new(&self.reads);
        let mut results = Vec::with_capacity(limit);
        let mut wanted = hits
            .iter()
            .filter(|hit| !asked.leaves_out(hit))
            .skip(offset);
        for hit in wanted.by_ref().take(limit) {
            results.extend(items.item(hit.key(), hit.score, hit.parts.clone())?);
        }
        Ok(Found {
            scope,
            results,
            has_more: wanted.next().is_some(),
            without_vectors: without_vectors.map(|why| why.to_string()),
        })
    }

    /// Those that do not have it, as far as the page and one more.
    fn first_without(
        &self,
        unwanted: &Expr,
        keys: Vec<RowKey>,
        page: Page,
    ) -> Result<Vec<RowKey>, StoreError> {
        let most = page.offset as usize + page.rows() as usize + 1;
        let mut kept = Vec::new();
        for key in keys {
            if kept.len() == most {
                break;
            }
            if !self.reads.has_in_text(unwanted, key)? {
                kept.push(key);
            }
        }
        Ok(kept)
    }

    /// In the order of time, where there are no words to rank by or none that match.
    fn list(&self, asked: &Asked<'_>, fit: Fit) -> Result<Found, StoreError> {
        let scope = asked.scope(asked.from, fit, false);
        let words = asked.word_scope(asked.whose);
        let page = asked.ask.page;
        // More than the page: some may have been marked as wrong.
        let most = page.offset as usize + page.rows() as usize + 200;
        let most = match asked.query.unwanted {
            Some(_) => LISTED_ROWS_MAX,
            None => most.min(LISTED_ROWS_MAX),
        };
        let oldest_first = asked.ask.order == Order::OldestFirst;
        let mut keys = match asked.filter(&words) {
            Some(filter) => self.reads.first_passing(&filter, &words.kinds, most)?,
            None => self.reads.rows_in_time(&words, oldest_first, most)?,
        };
        let ids: Vec<ObservationId> = keys
            .iter()
            .filter(|key| key.0 == RowKind::Observation)
            .map(|key| ObservationId(key.1))
            .collect();
        let verdicts = self.reads.verdicts(&ids)?;
        keys.retain(|key| {
            let wrong = key.0 == RowKind::Observation
                && verdicts
                    .get(&ObservationId(key.1))
                    .is_some_and(|verdict| verdict.wrong);
            asked.ask.with_wrong || !wrong
        });
        if let Some(unwanted) = &asked.query.unwanted {
            keys = self.first_without(unwanted, keys, page)?;
        }
        let hits: Vec<Hit> = keys.into_iter().map(Hit::listed).collect();
        self.page(asked, scope, &hits, None)
    }
}

/// What is said of hits that are faint.
const FAINT: &str = "nothing has these words; these are the nearest in meaning";

/// By meaning alone, and not by much: in a large store something always is.
fn is_faint(hits: &[Hit]) -> bool {
    const NEAR: f64 = 0.45;
    hits.iter().all(|hit| {
        hit.parts.matched.is_empty() && hit.parts.cosine.is_none_or(|cosine| cosine < NEAR)
    })
}

/// Whether one of them has half of the words.
fn speaks_of_most(hits: &[Hit], query: &Query) -> bool {
    let most = query.words.len().div_ceil(2).max(1);
    hits.iter().any(|hit| hit.parts.matched.len() >= most)
}

/// Rows by what they are called, in the order asked for; those that are gone are left out.
pub fn items(reads: &Reads<'_>, handles: &[Handle]) -> Result<Vec<Item>, StoreError> {
    let mut items = Items::new(reads);
    let mut found = Vec::with_capacity(handles.len());
    for handle in handles {
        found.extend(items.item(handle.key(), 0.0, Parts::default())?);
    }
    Ok(found)
}

#[cfg(test)]
#[path = "searcher_tests.rs"]
mod tests;
