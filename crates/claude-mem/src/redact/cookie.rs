//! Cookies in headers and on command lines: `Cookie: session=…; theme=dark`.

use super::literal::{self, quote};
use super::place::blanks;
use super::rules::RuleId;
use super::value::{self, Weight};

const COOKIE: RuleId = RuleId::named("cookie");
const HEADER_BYTES_MAX: usize = 4096;

/// The cookies behind the header's name that ends at `end`: all of them, if one is a secret.
pub(super) fn at(bytes: &[u8], end: usize) -> Option<(usize, usize, RuleId)> {
    let mut here = quote(bytes, end).map_or(end, |quote| quote.end);
    let spaces = blanks(bytes, here);
    here += spaces;
    let sign = matches!(bytes.get(here), Some(b':' | b'=' | b','));
    here += usize::from(sign);
    here += blanks(bytes, here);
    let (start, stop) = match quote(bytes, here) {
        Some(open) => (open.end, literal::end(bytes, open)),
        None if sign => {
            let limit = bytes.len().min(here + HEADER_BYTES_MAX);
            let line = bytes[here..limit]
                .iter()
                .take_while(|b| !b"\r\n\"'`\\".contains(b))
                .count();
            (here, here + line)
        }
        None => return None,
    };
    let pairs = &bytes[start..stop];
    let secret = pairs.split(|b| *b == b';').any(is_secret);
    (secret && (sign || spaces > 0)).then_some((start, stop, COOKIE))
}

fn is_secret(pair: &[u8]) -> bool {
    let Some(sign) = pair.iter().position(|b| *b == b'=') else {
        return false;
    };
    let value = pair[sign + 1..].trim_ascii();
    value.len() >= 16 && value::weigh(value) == Weight::Random
}
