//! The last word of a question that is still being typed.
//!
//! It is taken for the words that begin so and are met most, so that what comes while one types is
//! what comes when one is done.

use std::collections::HashMap;

use super::prefix::beginnings;
use super::query::Query;
use super::stem::stem;
use super::terms::{fold, words};
use crate::store::{Expr, Place, Reads, StoreError, WordScope};

/// A shorter beginning may be that of anything.
const LETTERS_MIN: usize = 2;
/// Texts that are asked how a word goes on, and places that are named to choose them from.
const TEXTS: usize = 40;
const PLACES: u32 = 2_000;
/// Words that may be meant.
const WORDS: usize = 2;

/// Puts the words that may be meant in the place of the last one.
pub(super) fn complete(
    reads: &Reads<'_>,
    typed: &str,
    scope: &WordScope,
    query: Query,
) -> Result<Query, StoreError> {
    let last = typed.rsplit(|c: char| !c.is_alphanumeric()).next();
    let last = fold(last.unwrap_or_default());
    if last.chars().count() < LETTERS_MIN || query.words.last() != Some(&last) {
        return Ok(query);
    }
    if query.demand.is_some() {
        return Ok(Query::parse(&format!("{typed}*")));
    }
    let mut query = query;
    let meant = begun(reads, &last, scope)?;
    if let Some(first) = meant.first() {
        let begun = query.plain.len() - last.len().min(query.plain.len());
        if query.plain.is_char_boundary(begun) {
            query.plain.replace_range(begun.., first);
        }
        query.words.pop();
        query.words.extend(meant);
    }
    Ok(query)
}

/// The words that go on so, those met most often first; what was typed too, where it is a word.
fn begun(reads: &Reads<'_>, last: &str, scope: &WordScope) -> Result<Vec<String>, StoreError> {
    let what = Expr::Prefix(last.to_owned(), beginnings(last));
    let spans = reads.reach(scope)?.spans();
    let mut places: Vec<Place> = Vec::new();
    reads.places_with(&what, &spans, PLACES, |place| places.push(place))?;
    let mut met: HashMap<String, (usize, String)> = HashMap::new();
    for place in places.into_iter().rev().take(TEXTS) {
        let Some(text) = reads.document_at(place)? else {
            continue;
        };
        let all = [&text.title, &text.body, &text.tags, &text.split];
        let all = all.iter().flat_map(|field| words(field));
        for word in all.filter(|word| word.starts_with(last)) {
            let (times, shortest) = met.entry(stem(&word)).or_default();
            *times += 1;
            if shortest.is_empty() || word.len() < shortest.len() {
                *shortest = word;
            }
        }
    }
    let whole = met.remove(&stem(last)).map(|_| last.to_owned());
    let mut met: Vec<(usize, String)> = met.into_values().collect();
    met.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let longer = met.into_iter().map(|(_, word)| word);
    Ok(whole.into_iter().chain(longer).take(WORDS).collect())
}
