//! The leg of words: the texts that hold most of what makes a question special.
//!
//! Rare words are looked up first, and common ones tell apart what the rare ones found. Which text
//! is how much about them is told later, by reading it.

use super::Query;
use super::allowed::Allowed;
use super::lookup::Lookup;
use super::rank::Ranking;
use super::stem::stem;
use crate::limits::QUERY_POSTINGS_MAX;
use crate::store::{Expr, Place, Reach, Reads, StoreError, WordScope};

/// One of the query's words, with how telling it is.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) word: String,
    pub(super) stem: String,
    pub(super) weight: f64,
    /// Of a common one, a guess.
    pub(super) count: u64,
    /// Where it stands, of a word that is rare enough to have been listed.
    pub(super) places: Option<Vec<Place>>,
}

impl Term {
    pub(super) fn expr(&self) -> Expr {
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
        postings_max: QUERY_POSTINGS_MAX,
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

#[cfg(test)]
mod tests {
    use super::{Term, Terms};
    use crate::limits::QUERY_POSTINGS_MAX;

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
