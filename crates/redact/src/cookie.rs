//! Finds cookies in headers and command lines: `Cookie: session=…; theme=dark`.

use super::assigned_value::blanks;
use super::literal::{self, quote_at};
use super::rules::RuleId;
use super::value::{self, ValueRandomness};

const COOKIE: RuleId = RuleId::named("cookie");
/// How much of a header is examined; if no cookie there is secret, none is masked. The mask covers the
/// whole header.
const LOOK_BYTES_MAX: usize = 1024;

/// The cookies after the header name that ends at `end`: all of them, if one is a secret.
pub(super) fn secret_at(bytes: &[u8], end: usize) -> Option<(usize, usize, RuleId)> {
    let mut here = quote_at(bytes, end).map_or(end, |quote| quote.end);
    let spaces = blanks(bytes, here);
    here += spaces;
    let sign = matches!(bytes.get(here), Some(b':' | b'=' | b','));
    here += usize::from(sign);
    here += blanks(bytes, here);
    let open = quote_at(bytes, here);
    if !sign && (open.is_none() || spaces == 0) {
        return None;
    }
    let start = open.map_or(here, |open| open.end);
    let looked = &bytes[start..header_end(bytes, start, LOOK_BYTES_MAX)];
    if !looked.split(|b| *b == b';').any(is_secret) {
        return None;
    }
    let stop =
        open.map_or_else(|| header_end(bytes, start, usize::MAX), |open| literal::literal_end(bytes, open));
    Some((start, stop, COOKIE))
}

fn header_end(bytes: &[u8], from: usize, bytes_max: usize) -> usize {
    let header = &bytes[from..bytes.len().min(from.saturating_add(bytes_max))];
    let ends = |b: &u8| matches!(b, b'\r' | b'\n' | b'"' | b'\'' | b'`' | b'\\');
    from + header.iter().position(ends).unwrap_or(header.len())
}

fn is_secret(pair: &[u8]) -> bool {
    let Some(sign) = pair.iter().position(|b| *b == b'=') else {
        return false;
    };
    let value = pair[sign + 1..].trim_ascii();
    value.len() >= 16 && value::classify_value(value) == ValueRandomness::Random
}
