//! Completes the last word of a query that is still being typed.
//!
//! The word is replaced by its most frequent completions in scope, so that results while typing
//! equal those of the finished query.

use std::collections::HashMap;

use super::prefix::prefix_expansions;
use super::query::SearchQuery;
use super::stem::stem;
use crate::analyzer::{fold, words};
use claude_mem_store::{DocId, FtsQuery, RowFilter, StoreError, StoreReader};

/// Shorter prefixes are too ambiguous to complete.
const LETTERS_MIN: usize = 2;
/// Documents read to find completions.
const SAMPLED_DOCS_MAX: usize = 40;
/// Postings listed to choose those documents from.
const POSTINGS_MAX: u32 = 2_000;
/// Maximum completions of one word.
const COMPLETIONS_MAX: usize = 2;

/// Replaces the last word by its completions; with a required clause, turns it into a prefix.
pub(super) fn complete_last_word(
    reads: &StoreReader<'_>,
    typed: &str,
    scope: &RowFilter,
    query: SearchQuery,
) -> Result<SearchQuery, StoreError> {
    let typed_last = typed.rsplit(|c: char| !c.is_alphanumeric()).next();
    let last = fold(typed_last.unwrap_or_default());
    if last.chars().count() < LETTERS_MIN || query.words.last() != Some(&last) {
        return Ok(query);
    }
    if query.must.is_some() {
        return Ok(SearchQuery::parse(&format!("{typed}*")));
    }
    let mut query = query;
    let meant = completions(reads, &last, scope)?;
    if let Some(first) = meant.first() {
        let begun = query.semantic_text.len() - last.len().min(query.semantic_text.len());
        if query.semantic_text.is_char_boundary(begun) {
            query.semantic_text.replace_range(begun.., first);
        }
        query.words.pop();
        query.words.extend(meant);
    }
    Ok(query)
}

/// Words with this prefix, most frequent first; the prefix itself first if it is a word.
fn completions(reads: &StoreReader<'_>, last: &str, scope: &RowFilter) -> Result<Vec<String>, StoreError> {
    let what = FtsQuery::Prefix(last.to_owned(), prefix_expansions(last));
    let spans = reads.corpus(scope)?.doc_id_ranges();
    let mut places: Vec<DocId> = Vec::new();
    reads.for_each_match(&what, &spans, POSTINGS_MAX, |place| places.push(place))?;
    let mut met: HashMap<String, (usize, String)> = HashMap::new();
    for place in places.into_iter().rev().take(SAMPLED_DOCS_MAX) {
        let Some(text) = reads.document_by_id(place)? else {
            continue;
        };
        let fields = [&text.title, &text.body, &text.tags, &text.split];
        let all = fields.iter().flat_map(|field| words(field));
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
    Ok(whole.into_iter().chain(longer).take(COMPLETIONS_MAX).collect())
}
