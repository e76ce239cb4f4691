//! Verifies a required clause on the stored text.
//!
//! The index holds stems and cannot tell which word a stem came from, so prefix matches are checked
//! here.

use super::stem::stem;
use crate::analyzer::{fold, words};
use claude_mem_store::{FtsColumn, FtsQuery, IndexedDocument, split_unspaced};

/// Whether the index alone cannot decide this clause.
pub(super) fn needs_document(expr: &FtsQuery) -> bool {
    match expr {
        FtsQuery::Term(_) => false,
        FtsQuery::Prefix(..) => true,
        FtsQuery::Column(_, inner) => needs_document(inner),
        FtsQuery::And(all) | FtsQuery::Or(all) => all.iter().any(needs_document),
        FtsQuery::Not(keep, drop) => needs_document(keep) || needs_document(drop),
    }
}

/// Whether the document matches the clause.
pub(super) fn document_matches(document: &IndexedDocument, expr: &FtsQuery) -> bool {
    let IndexedDocument { title, body, tags, split, .. } = document;
    match expr {
        FtsQuery::Column(FtsColumn::Title, inner) => fields_match(&[title], inner),
        FtsQuery::Column(FtsColumn::Body, inner) => fields_match(&[body], inner),
        FtsQuery::Column(FtsColumn::Tags, inner) => fields_match(&[tags], inner),
        FtsQuery::And(all) => all.iter().all(|each| document_matches(document, each)),
        FtsQuery::Or(any) => any.iter().any(|each| document_matches(document, each)),
        FtsQuery::Not(keep, drop) => document_matches(document, keep) && !document_matches(document, drop),
        FtsQuery::Term(_) | FtsQuery::Prefix(..) => fields_match(&[title, body, tags, split], expr),
    }
}

/// Whether any of the fields matches the clause.
fn fields_match(fields: &[&String], expr: &FtsQuery) -> bool {
    let any = |expr: &FtsQuery| fields.iter().any(|field| text_matches(field, expr));
    match expr {
        FtsQuery::And(all) => all.iter().all(|each| fields_match(fields, each)),
        FtsQuery::Or(each) => each.iter().any(|each| fields_match(fields, each)),
        FtsQuery::Not(keep, drop) => fields_match(fields, keep) && !fields_match(fields, drop),
        FtsQuery::Column(_, inner) => fields_match(fields, inner),
        FtsQuery::Term(_) | FtsQuery::Prefix(..) => any(expr),
    }
}

/// Whether one text contains the term or a word with the prefix.
fn text_matches(text: &str, expr: &FtsQuery) -> bool {
    match expr {
        FtsQuery::Prefix(typed, _) => {
            let typed = fold(typed);
            words(text).any(|word| word.starts_with(&typed))
        }
        FtsQuery::Term(phrase) => has_phrase(text, phrase),
        _ => false,
    }
}

/// Whether the stems of the phrase occur consecutively; scripts without spaces match by character
/// pairs.
fn has_phrase(text: &str, phrase: &str) -> bool {
    let stems: Vec<String> = words(phrase).map(|word| stem(&word)).collect();
    let Some(first) = stems.first() else {
        return false;
    };
    let found: Vec<String> = words(text).map(|word| stem(&word)).collect();
    let whole = found.windows(stems.len()).any(|run| run[0] == *first && run == stems);
    let unspaced = || words(phrase).flat_map(split_unspaced).collect::<Vec<_>>();
    whole
        || !phrase.is_ascii() && {
            let cut = unspaced();
            cut.len() != stems.len() && cut.iter().all(|pair| text.contains(pair.as_str()))
        }
}
