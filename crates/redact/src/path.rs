//! Redacts file paths and URLs: words stay, credentials are masked.

use std::borrow::Cow;

use super::secret_span::SecretSpan;
use super::secrets::replace;
use super::{private, query, secrets};

/// Redacts a path. A query part is treated like that of a URL, with or without a scheme.
pub fn path(path: &str) -> Cow<'_, str> {
    let stripped = private(path).text;
    let clean = match secrets(&stripped) {
        Cow::Owned(clean) => Cow::Owned(clean),
        Cow::Borrowed(_) => stripped,
    };
    match query::secret_at(clean.as_bytes(), 0) {
        Some((start, end, rule)) => Cow::Owned(replace(&clean, &[SecretSpan { start, end, rule }])),
        None => clean,
    }
}
