//! Whether a text has what was demanded, told by reading it.
//!
//! The index has stems and cannot say which word one came from. Where that matters, the text can.

use super::stem::stem;
use super::terms::{fold, words};
use crate::store::{Column, Document, Expr, split_unspaced};

/// Whether the index alone cannot tell.
pub(super) fn needs_reading(expr: &Expr) -> bool {
    match expr {
        Expr::Term(_) => false,
        Expr::Prefix(..) => true,
        Expr::Column(_, inner) => needs_reading(inner),
        Expr::And(all) | Expr::Or(all) => all.iter().any(needs_reading),
        Expr::Not(keep, drop) => needs_reading(keep) || needs_reading(drop),
    }
}

pub(super) fn holds(document: &Document, expr: &Expr) -> bool {
    let Document {
        title,
        body,
        tags,
        split,
        ..
    } = document;
    match expr {
        Expr::Column(Column::Title, inner) => in_fields(&[title], inner),
        Expr::Column(Column::Body, inner) => in_fields(&[body], inner),
        Expr::Column(Column::Tags, inner) => in_fields(&[tags], inner),
        Expr::And(all) => all.iter().all(|each| holds(document, each)),
        Expr::Or(any) => any.iter().any(|each| holds(document, each)),
        Expr::Not(keep, drop) => holds(document, keep) && !holds(document, drop),
        Expr::Term(_) | Expr::Prefix(..) => in_fields(&[title, body, tags, split], expr),
    }
}

fn in_fields(fields: &[&String], expr: &Expr) -> bool {
    let any = |expr: &Expr| fields.iter().any(|field| in_text(field, expr));
    match expr {
        Expr::And(all) => all.iter().all(|each| in_fields(fields, each)),
        Expr::Or(each) => each.iter().any(|each| in_fields(fields, each)),
        Expr::Not(keep, drop) => in_fields(fields, keep) && !in_fields(fields, drop),
        Expr::Column(_, inner) => in_fields(fields, inner),
        Expr::Term(_) | Expr::Prefix(..) => any(expr),
    }
}

fn in_text(text: &str, expr: &Expr) -> bool {
    match expr {
        Expr::Prefix(typed, _) => {
            let typed = fold(typed);
            words(text).any(|word| word.starts_with(&typed))
        }
        Expr::Term(phrase) => has_phrase(text, phrase),
        _ => false,
    }
}

fn has_phrase(text: &str, phrase: &str) -> bool {
    let stems: Vec<String> = words(phrase).map(|word| stem(&word)).collect();
    let Some(first) = stems.first() else {
        return false;
    };
    let found: Vec<String> = words(text).map(|word| stem(&word)).collect();
    let whole = found
        .windows(stems.len())
        .any(|run| run[0] == *first && run == stems);
    let unspaced = || words(phrase).flat_map(split_unspaced).collect::<Vec<_>>();
    whole
        || !phrase.is_ascii() && {
            let cut = unspaced();
            cut.len() != stems.len() && cut.iter().all(|pair| text.contains(pair.as_str()))
        }
}
