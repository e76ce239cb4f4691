//! File paths and URLs as clients name them: their words stay, credentials in them go.

use std::borrow::Cow;

use super::secrets::{Span, replace};
use super::{private, query, secrets};

/// Redacts a path. Its query part is held to the same as that of a URL, scheme or not.
pub fn path(path: &str) -> Cow<'_, str> {
    let stripped = private(path).text;
    let clean = match secrets(&stripped) {
        Cow::Owned(clean) => Cow::Owned(clean),
        Cow::Borrowed(_) => stripped,
    };
    match query::at(clean.as_bytes(), 0) {
        Some((start, end, rule)) => Cow::Owned(replace(&clean, &[Span { start, end, rule }])),
        None => clean,
    }
}
