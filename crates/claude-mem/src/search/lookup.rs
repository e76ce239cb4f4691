//! What the index is asked for one question: rare words first, and no more of it than it can say in
//! a moment.

use super::leads::Term;
use crate::store::{Column, Expr, Place, Reach, Reads, Span, StoreError, WordScope};

/// What a word in the title counts more: about what BM25 makes of the title's weight.
const TITLE_SHARE: f64 = 0.5;
/// A common word that tells less than this share of the rarest is not looked up.
const TELLING_SHARE: f64 = 0.25;
/// Common words that are looked up at most.
const TOLD_APART_MAX: usize = 2;
/// Places that an expression of quotes and operators may name.
const DEMANDED_MAX: u32 = 20_000;
/// Of a word that stands everywhere, as many texts of each project at least.
const NEWEST_EACH_MIN: u32 = 64;
const ALL: u32 = u32::MAX;

/// What the index is asked for one question, and what it said.
pub(super) struct Lookup<'a> {
    pub(super) reads: &'a Reads<'a>,
    pub(super) scope: &'a WordScope,
    pub(super) spans: Vec<Span>,
    /// Places that words may name together.
    pub(super) postings_max: u64,
    /// How many will be read.
    pub(super) most: usize,
    /// In the order of the index, each with the weight of the words it holds.
    pub(super) found: Vec<(Place, f64)>,
}

impl Lookup<'_> {
    /// Texts with any of the words.
    pub(super) fn any_of(
        &mut self,
        terms: &[&Term],
        reach: &Reach,
        is_sifted: bool,
    ) -> Result<(), StoreError> {
        let Some(rarest) = terms.first() else {
            return Ok(());
        };
        let rare = self.list(terms)?;
        if rare == 0 && is_sifted {
            let places = self.places(&rarest.expr(), ALL)?.0;
            self.found = either(&self.found, &places, rarest.weight);
        } else if rare == 0 {
            // Even the rarest word stands everywhere: the newest are as good as any. Not so above,
            // where most of them may not come.
            self.newest(rarest, reach)?;
        }
        let (rare, common) = terms.split_at(rare.max(1));
        if self.found.len() > self.most {
            let titles = Expr::Column(Column::Title, Box::new(rarest.expr()));
            let titles = self.places(&titles, ALL)?.0;
            self.lift(&titles, TITLE_SHARE * rarest.weight);
        }
        let rare = rare.iter().map(|term| term.expr());
        self.tell_apart(&Expr::Or(rare.collect()), rarest.weight, common)
    }

    /// Takes in the places of as many words, rarest first, as the index can be asked for in a
    /// moment; says of how many.
    fn list(&mut self, terms: &[&Term]) -> Result<usize, StoreError> {
        let mut left = self.postings_max;
        for (at, term) in terms.iter().enumerate() {
            let places = match &term.places {
                Some(all) if all.len() as u64 > left => return Ok(at),
                Some(all) => {
                    let inside = all.iter().filter(|place| self.scope.has(**place));
                    inside.copied().collect()
                }
                None if term.count > left => return Ok(at),
                // The count is a guess, and may be far off.
                None => match self.places(&term.expr(), left as u32 + 1)? {
                    (_, true) => return Ok(at),
                    (all, false) => all,
                },
            };
            left -= places.len() as u64;
            self.found = either(&self.found, &places, term.weight);
        }
        Ok(terms.len())
    }

    /// Takes in the newest texts with a word, of each owner by its share, and looks at nothing older
    /// from here on.
    fn newest(&mut self, term: &Term, reach: &Reach) -> Result<(), StoreError> {
        self.spans.clear();
        for (span, share) in reach.shares() {
            let most = (share * self.postings_max as f64) as u32;
            let newest =
                self.reads
                    .newest_places_with(&term.expr(), span, most.max(NEWEST_EACH_MIN))?;
            let Some(oldest) = newest.last() else {
                continue;
            };
            self.spans.push(span.from(*oldest));
            let inside = newest.iter().rev().filter(|place| self.scope.has(**place));
            self.found.extend(inside.map(|place| (*place, term.weight)));
        }
        Ok(())
    }

    /// What quotes and operators demand, whatever words stand there besides.
    pub(super) fn demanded(&mut self, demand: &Expr, terms: &[&Term]) -> Result<(), StoreError> {
        let (places, is_cut) = self.places(demand, DEMANDED_MAX)?;
        match demand {
            // Of alternatives, a common one is not to take the room of a rare one.
            Expr::Or(any) if is_cut => {
                for one in any {
                    let places = self.places(one, DEMANDED_MAX / any.len() as u32)?.0;
                    self.found = either(&self.found, &places, 0.0);
                }
            }
            _ => self.found = places.into_iter().map(|place| (place, 0.0)).collect(),
        }
        let rarest = terms.first().map_or(0.0, |term| term.weight);
        self.tell_apart(demand, rarest, terms)
    }

    fn tell_apart(&mut self, among: &Expr, rarest: f64, terms: &[&Term]) -> Result<(), StoreError> {
        if self.found.len() <= self.most {
            // All of them will be read.
            return Ok(());
        }
        let telling = terms
            .iter()
            .filter(|term| term.weight >= TELLING_SHARE * rarest);
        for term in telling.take(TOLD_APART_MAX) {
            let what = Expr::And(vec![among.clone(), term.expr()]);
            let places = self.places(&what, ALL)?.0;
            self.lift(&places, term.weight);
        }
        Ok(())
    }

    /// Where it stands within the scope, and whether there may be more: as many as `limit` were
    /// seen, whatever their kind.
    fn places(&self, what: &Expr, limit: u32) -> Result<(Vec<Place>, bool), StoreError> {
        let (mut places, mut seen) = (Vec::new(), 0);
        self.reads.places_with(what, &self.spans, limit, |place| {
            seen += 1;
            if self.scope.has(place) {
                places.push(place);
            }
        })?;
        Ok((places, seen == limit))
    }

    /// Adds to those that are found already.
    fn lift(&mut self, places: &[Place], by: f64) {
        let mut found = self.found.iter_mut().peekable();
        for place in places {
            while found.next_if(|(at, _)| at < place).is_some() {}
            if let Some((_, weight)) = found.next_if(|(at, _)| at == place) {
                *weight += by;
            }
        }
    }
}

/// Two lists in the order of the index become one.
fn either(found: &[(Place, f64)], places: &[Place], weight: f64) -> Vec<(Place, f64)> {
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
#[path = "lookup_tests.rs"]
mod tests;
