//! The query part of URLs and paths: a signed link is a key, whatever its parameters are called.

use super::class;
use super::rules::RuleId;
use super::shape;
use super::value::{self, Weight};

const QUERY_VALUE: RuleId = RuleId::named("query-value");
/// Where the query begins, at the latest, and how long it may be.
const BEFORE_BYTES_MAX: usize = 300;
const QUERY_BYTES_MAX: usize = 1024;

/// From the first value in the query of the URL at `start` that nobody typed, to its end.
pub(super) fn at(bytes: &[u8], start: usize) -> Option<(usize, usize, RuleId)> {
    let before = &bytes[start..bytes.len().min(start + BEFORE_BYTES_MAX)];
    let before = before.iter().take_while(|b| class::has(class::PATH, **b));
    let query = start + before.enumerate().find(|(_, b)| **b == b'?')?.0 + 1;
    let rest = &bytes[query..bytes.len().min(query + QUERY_BYTES_MAX)];
    let of_query = |b: &&u8| class::has(class::PATH, **b) && **b != b'#';
    let end = query + rest.iter().take_while(of_query).count();
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
    // Escaped letters of other alphabets look random.
    let escapes = value.split(|b| *b == b'%').count() - 1;
    value.len() >= 20
        && escapes * 8 <= value.len()
        && !value::is_hex(value)
        && value::weigh(value) == Weight::Random
        // Its own rule will find it.
        && shape::of_whole(value).is_none()
}
