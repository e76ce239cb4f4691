//! Finds credentials in URLs: `scheme://user:password@host`.

use super::class;
use super::reference;
use super::rules::RuleId;
use super::value::{self, ValueRandomness};

const URL_PASSWORD: RuleId = RuleId::named("url-password");
const URL_TOKEN: RuleId = RuleId::named("url-token");
const USERINFO_BYTES_MAX: usize = 64 << 10;

/// The password or token in the URL whose `://` is at `at`.
pub(super) fn secret_at(bytes: &[u8], at: usize) -> Option<(usize, usize, RuleId)> {
    let start = at + 3;
    if at == 0 || !bytes[at - 1].is_ascii_alphanumeric() {
        return None;
    }
    let info = userinfo(&bytes[start..])?;
    let (user, password) = match info.iter().position(|b| *b == b':') {
        Some(colon) => (&info[..colon], Some(&info[colon + 1..])),
        None => (info, None),
    };
    // `https://token@host`, `https://token:x-oauth-basic@host`
    if value::classify_value(user) == ValueRandomness::Random && user.len() >= 16 {
        return Some((start, start + info.len(), URL_TOKEN));
    }
    let password = password.filter(|password| !is_reference(password))?;
    let from = start + info.len() - password.len();
    Some((from, start + info.len(), URL_PASSWORD))
}

/// The user info before the `@`. A password should have its slashes escaped; if it has not, the
/// text after the colon is at least not a port.
fn userinfo(rest: &[u8]) -> Option<&[u8]> {
    let limit = rest.len().min(USERINFO_BYTES_MAX);
    let url = &rest[..class::run(&rest[..limit], class::PATH, limit)];
    // The next URL has its own user info.
    let url = &url[..memchr::memmem::find(url, b"://").unwrap_or(url.len())];
    let authority = url.iter().position(|b| matches!(b, b'/' | b'?' | b'#')).unwrap_or(url.len());
    if let Some(sign) = url[..authority].iter().rposition(|b| *b == b'@') {
        return Some(&url[..sign]);
    }
    let colon = url[..authority].iter().position(|b| *b == b':')?;
    let after = &url[colon + 1..authority];
    if after.is_empty() || after.iter().all(u8::is_ascii_digit) {
        return None;
    }
    url.iter().position(|b| *b == b'@').map(|sign| &url[..sign])
}

fn is_reference(password: &[u8]) -> bool {
    password.len() > 1 && value::classify_value(password) == ValueRandomness::NotSecret
        || reference::is_default(&password.to_ascii_lowercase())
        || matches!(password, b"" | b"$" | b"*")
}
