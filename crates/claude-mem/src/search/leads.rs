//! The leg of words: the texts that hold most of what makes a question special.
//!
//! Rare words are looked up first, and common ones tell apart what the rare ones found. Which text
//! is how much about them is told later, by reading it.

use super::Query;
use super::allowed::Allowed;
use super::rank::Ranking;
use super::stem::stem;
use crate::limits::QUERY_POSTINGS_MAX;
use crate::store::{Column, Expr, Place, Reach, Reads, Span, StoreError, WordScope};

/// What a word in the title counts more: about what BM25 makes of the title's weight.
const TITLE_SHARE: f64 = 0.5;
/// A common word that tells less than this share of the rarest is not looked up.
const TELLING_SHARE: f64 = 0.25;
/// Common words that are looked up at most.
const TOLD_APART_MAX: usize = 2;
/// Places that an expression of quotes and operators may name.
const DEMANDED_MAX: u32 = 20_000;
const ALL: u32 = u32::MAX;

/// One of the query's words, with how telling it is.
#[derive(Clone, Debug)]
struct Term {
    word: String,
    stem: String,
    weight: f64,
    count: u64,
    /// Where it stands, of a word that is rare enough to have been listed.
    places: Option<Vec<Place>>,
}

impl Term {
    fn expr(&self) -> Expr {
        Expr::Term(self.word.clone())
    }
}

/// The telling words of a question, each once, in the order they were typed.
#[derive(Debug)]
pub(super) struct Terms(Vec<Term>);

impl Terms {
    pub(super) fn choose(
        reads: &Reads<'_>,
        query: &Query,
        reach: &Reach,
        ranking: &Ranking,
    ) -> Result<Self, StoreError> {
        let everywhere = reads.reach(&WordScope::default())?;
        let rarity = |count: u64, of: &Reach| {
            let all = of.texts() as f64 + ranking.imagined;
            (all / (count as f64 + 0.5)).ln().max(0.05)
        };
        let mut terms: Vec<Term> = Vec::new();
        // Rarely more than the words themselves.
        let mut words: Vec<(&String, bool)> = query.words.iter().map(|word| (word, true)).collect();
        words.reverse();
        while let Some((word, is_whole)) = words.pop() {
            let stem = stem(word);
            if terms.iter().any(|term| term.stem == stem) {
                continue;
            }
            let listed = reads.listed_with(word, reach)?;
            let count = listed.count;
            if let Some(parts) = query.parts_of(word).filter(|_| count == 0 && is_whole) {
                // An identifier that nobody spells so: what it is made of may be known.
                words.extend(parts.iter().rev().map(|part| (part, false)));
                continue;
            }
            // What a small project counts says little, and what is rare elsewhere may be what this
            // one is all about: each has half a say.
            let mut weight = rarity(count, reach);
            if *reach != everywhere {
                let elsewhere = reads.listed_with(word, &everywhere)?.count;
                weight = f64::midpoint(weight, rarity(elsewhere, &everywhere));
            }
            terms.push(Term {
                word: word.clone(),
                stem,
                weight,
                count,
                places: listed.all,
            });
        }
        if terms.len() > ranking.terms_max {
            // A word that stands nowhere tells nothing apart.
            let room = |term: &Term| (term.count == 0, term.count);
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

    /// Of those that stand anywhere.
    fn rarest_first(&self) -> Vec<&Term> {
        let mut terms: Vec<&Term> = self.0.iter().filter(|term| term.count > 0).collect();
        terms.sort_by_key(|term| term.count);
        terms
    }
}

/// The best places for the words, as many as ranking looks at.
pub(super) fn leads(
    reads: &Reads<'_>,
    query: &Query,
    terms: &Terms,
    scope: &WordScope,
    reach: &Reach,
    allowed: Option<&Allowed>,
    ranking: &Ranking,
) -> Result<Vec<Place>, StoreError> {
    let is_sifted = allowed.is_some() || scope.since.is_some() || scope.until.is_some();
    let terms = terms.rarest_first();
    let most = match query.demand {
        // What was demanded is all of it an answer.
        Some(_) => 4 * ranking.candidates,
        None => ranking.candidates,
    };
    let mut lookup = Lookup {
        reads,
        scope,
        spans: reach.spans(),
        most,
        found: Vec::new(),
    };
    match &query.demand {
        Some(demand) => lookup.demanded(demand, &terms)?,
        None => lookup.any_of(&terms, reach, is_sifted)?,
    }
    let mut best = lookup.found;
    // Of equals the newest.
    best.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    let best = best.into_iter().map(|(place, _)| place);
    if is_sifted {
        sifted(reads, scope, allowed, best, most)
    } else {
        Ok(best.take(most).collect())
    }
}

/// The first that may come; no more are looked at than that takes.
fn sifted(
    reads: &Reads<'_>,
    scope: &WordScope,
    allowed: Option<&Allowed>,
    places: impl Iterator<Item = Place>,
    most: usize,
) -> Result<Vec<Place>, StoreError> {
    let mut kept = Vec::with_capacity(most);
    for place in places {
        if kept.len() == most {
            break;
        }
        let Some(label) = reads.label_at(place)? else {
            continue;
        };
        let is_in_time = scope.since.is_none_or(|since| label.created_at >= since)
            && scope.until.is_none_or(|until| label.created_at < until);
        let may_come = match allowed {
            Some(allowed) if is_in_time => allowed.has(reads, (label.kind, label.row_id))?,
            _ => is_in_time,
        };
        if may_come {
            kept.push(place);
        }
    }
    Ok(kept)
}

struct Lookup<'a> {
    reads: &'a Reads<'a>,
    scope: &'a WordScope,
    spans: Vec<Span>,
    /// How many will be read.
    most: usize,
    /// In the order of the index, each with the weight of the words it holds.
    found: Vec<(Place, f64)>,
}

impl Lookup<'_> {
    fn any_of(
        &mut self,
        terms: &[&Term],
        reach: &Reach,
        is_sifted: bool,
    ) -> Result<(), StoreError> {
        let Some(rarest) = terms.first() else {
            return Ok(());
        };
        let rare = self.list(terms)?;
        let (rare, common) = if rare == 0 {
            // Even the rarest word stands everywhere: the newest are as good as any. Not so where
            // most of them may not come.
            let most = if is_sifted {
                ALL
            } else {
                let count = rarest.count.max(QUERY_POSTINGS_MAX);
                self.spans = reach.newest(QUERY_POSTINGS_MAX as f64 / count as f64);
                2 * QUERY_POSTINGS_MAX as u32
            };
            let places = self.places(&rarest.expr(), most)?;
            self.found = either(&self.found, &places, rarest.weight);
            terms.split_at(1)
        } else {
            terms.split_at(rare)
        };
        if self.found.len() > self.most {
            let titles = Expr::Column(Column::Title, Box::new(rarest.expr()));
            let titles = self.places(&titles, ALL)?;
            self.lift(&titles, TITLE_SHARE * rarest.weight);
        }
        let rare = rare.iter().map(|term| term.expr());
        self.tell_apart(&Expr::Or(rare.collect()), rarest.weight, common)
    }

    /// Takes in the places of as many words, rarest first, as the index can be asked for in a
    /// moment; says how many.
    fn list(&mut self, terms: &[&Term]) -> Result<usize, StoreError> {
        let mut left = QUERY_POSTINGS_MAX as usize;
        for (at, term) in terms.iter().enumerate() {
            let places = match &term.places {
                Some(all) => all
                    .iter()
                    .copied()
                    .filter(|at| self.scope.has(*at))
                    .collect(),
                None if term.count > left as u64 => return Ok(at),
                // A count is a guess, and may be far off.
                None => self.places(&term.expr(), left as u32 + 1)?,
            };
            if places.len() > left {
                return Ok(at);
            }
            left -= places.len();
            self.found = either(&self.found, &places, term.weight);
        }
        Ok(terms.len())
    }

    /// What quotes and operators demand, whatever words stand there besides.
    fn demanded(&mut self, demand: &Expr, terms: &[&Term]) -> Result<(), StoreError> {
        let places = self.places(demand, DEMANDED_MAX)?;
        match demand {
            // Of alternatives, a common one is not to take the room of a rare one.
            Expr::Or(any) if places.len() == DEMANDED_MAX as usize => {
                for one in any {
                    let places = self.places(one, DEMANDED_MAX / any.len() as u32)?;
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
            let places = self.places(&what, ALL)?;
            self.lift(&places, term.weight);
        }
        Ok(())
    }

    fn places(&self, what: &Expr, limit: u32) -> Result<Vec<Place>, StoreError> {
        let mut places = Vec::new();
        self.reads.places_with(what, &self.spans, limit, |place| {
            if self.scope.has(place) {
                places.push(place);
            }
        })?;
        Ok(places)
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
mod tests {
    use super::{Term, Terms, either};
    use crate::ids::ProjectId;
    use crate::limits::QUERY_POSTINGS_MAX;
    use crate::store::{Place, RowKind};

    #[test]
    fn lists_are_merged_in_order_and_weights_add_up() {
        let at = |sequence| Place::new(ProjectId(1), sequence, RowKind::Observation);
        let one = either(&[], &[at(2), at(5)], 1.0);
        let two = either(&one, &[at(1), at(5), at(9)], 0.5);
        assert_eq!(
            two,
            [(at(1), 0.5), (at(2), 1.0), (at(5), 1.5), (at(9), 0.5)]
        );
    }

    #[test]
    fn a_word_that_stands_nowhere_takes_no_place_of_one_that_does() {
        let term = |word: &str, count| Term {
            word: word.to_owned(),
            stem: word.to_owned(),
            weight: 1.0,
            count,
            places: None,
        };
        let terms = Terms(vec![
            term("common", 2 * QUERY_POSTINGS_MAX),
            term("nowhere", 0),
        ]);
        let asked = terms.rarest_first();
        assert_eq!(asked[0].word, "common");
    }
}
