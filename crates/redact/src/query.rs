//! Finds generated values in the query part of URLs and paths. A signed link grants access,
//! whatever its parameters are named.

use super::class;
use super::rules::RuleId;
use super::shape;
use super::value::{self, ValueRandomness};
use super::value_form;

const QUERY_VALUE: RuleId = RuleId::named("query-value");
/// How far after the start of the URL its query may begin.
const BEFORE_BYTES_MAX: usize = 300;
/// Maximum length of a query.
const QUERY_BYTES_MAX: usize = 1024;

/// The range from the first generated value in the query of the URL at `start` to the query's end.
pub(super) fn secret_at(bytes: &[u8], start: usize) -> Option<(usize, usize, RuleId)> {
    let before = &bytes[start..bytes.len().min(start + BEFORE_BYTES_MAX)];
    let before = before.iter().take_while(|b| class::has(class::PATH, **b));
    let query = start + before.enumerate().find(|(_, b)| **b == b'?')?.0 + 1;
    let rest = &bytes[query..bytes.len().min(query + QUERY_BYTES_MAX)];
    let of_query = |b: &&u8| class::has(class::PATH, **b) && **b != b'#';
    let end = query + rest.iter().take_while(of_query).count();
    let mut here = query;
    for part in bytes[query..end].split(|b| *b == b'&') {
        if let Some(sign) = part.iter().position(|b| *b == b'=')
            && !is_tracking_name(&part[..sign])
            && is_generated(&part[sign + 1..])
        {
            return Some((here + sign + 1, end, QUERY_VALUE));
        }
        here += part.len() + 1;
    }
    None
}

/// Whether the parameter says where a visitor came from.
fn is_tracking_name(name: &[u8]) -> bool {
    const NAMES: &str = "gclid gbraid wbraid fbclid msclkid dclid twclid yclid igshid mc_eid _ga _gl epik li_fat_id ttclid srsltid";
    NAMES.split(' ').any(|known| name.eq_ignore_ascii_case(known.as_bytes())) || name.starts_with(b"utm_")
}

/// Whether the value is generated. Checksums and ids in hex are too, but grant no access.
fn is_generated(value: &[u8]) -> bool {
    // Escaped letters of other scripts look random.
    let escapes = value.split(|b| *b == b'%').count() - 1;
    value.len() >= 20
        && escapes * 8 <= value.len()
        && !value_form::is_hex(value)
        && value::classify_value(value) == ValueRandomness::Random
        // A rule with this shape finds it anyway.
        && shape::rule_of_whole(value).is_none()
}
