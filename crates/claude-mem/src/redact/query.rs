//! The query part of URLs and paths: a signed link is a key, whatever its parameters are called.

use super::class;
use super::rules::RuleId;
use super::shape;
use super::value::{self, Weight};

const QUERY_VALUE: RuleId = RuleId::named("query-value");
const URL_BYTES_MAX: usize = 2048;

/// From the first value in the query of the URL at `start` that nobody typed, to its end.
pub(super) fn at(bytes: &[u8], start: usize) -> Option<(usize, usize, RuleId)> {
    let limit = bytes.len().min(start + URL_BYTES_MAX);
    let url = &bytes[start..limit];
    let url = &url[..class::run(url, class::PATH, url.len())];
    let query = start + url.iter().position(|b| *b == b'?')? + 1;
    let end = start
        + url
            .iter()
            .position(|b| *b == b'#')
            .unwrap_or(url.len())
            .max(query - start);
    let mut here = query;
    for part in bytes[query..end].split(|b| *b == b'&') {
        if let Some(sign) = part.iter().position(|b| *b == b'=')
            && is_generated(&part[sign + 1..])
        {
            return Some((here + sign + 1, end, QUERY_VALUE));
        }
        here += part.len() + 1;
    }
    None
}

/// Checksums and ids are generated too, but open nothing.
fn is_generated(value: &[u8]) -> bool {
    value.len() >= 20
        && !value::is_hex(value)
        && value::weigh(value) == Weight::Random
        // Its own rule will find it.
        && shape::of_whole(value).is_none()
}
