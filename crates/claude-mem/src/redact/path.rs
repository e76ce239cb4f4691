//! File paths and URLs as clients name them: their words stay, credentials in their query go.

use std::borrow::Cow;

use super::value::{self, Weight};
use super::{private, secrets};

/// Redacts a path. Beyond what `secrets` masks, no generated value is left in its query part:
/// a signed link is a key, whatever its parameters are called.
pub fn path(path: &str) -> Cow<'_, str> {
    let stripped = private(path).text;
    let clean = match secrets(&stripped) {
        Cow::Owned(clean) => Cow::Owned(clean),
        Cow::Borrowed(_) => stripped,
    };
    let Some((before, query)) = clean.split_once('?') else {
        return clean;
    };
    if !query.split('&').any(|part| generated(part).is_some()) {
        return clean;
    }
    let parts = query.split('&').map(|part| match generated(part) {
        Some(name) => format!("{name}=[redacted:query-value]"),
        None => part.to_owned(),
    });
    Cow::Owned(format!("{before}?{}", parts.collect::<Vec<_>>().join("&")))
}

/// The name of a query part whose value nobody typed.
fn generated(part: &str) -> Option<&str> {
    let (name, value) = part.split_once('=')?;
    (value::weigh(value.as_bytes()) == Weight::Random && value.len() >= 16).then_some(name)
}
