//! Finds passwords in connection strings that are no URLs: they stand in a fixed place.

use super::class;
use super::rules::RuleId;
use super::value::{self, ValueRandomness};

const CONNECTION: RuleId = RuleId::named("connection-password");
/// Maximum length of the user name and the password before the address.
const USERINFO_BYTES_MAX: usize = 4096;

/// The password of the connection string that is recognised by `anchor` at `at`.
pub(super) fn secret_at(bytes: &[u8], at: usize, anchor: &str) -> Option<(usize, usize, RuleId)> {
    let (start, end) = match anchor {
        "@tcp(" | "@unix(" => before_address(bytes, at)?,
        "jdbc:oracle:thin:" => oracle(bytes, at + anchor.len())?,
        "]:587" | "]:465" | "]:25" => mail_line(bytes, at + anchor.len())?,
        _ => password_line(bytes, at + anchor.len())?,
    };
    (end > start && value::classify_value(&bytes[start..end]) > ValueRandomness::NotSecret)
        .then_some((start, end, CONNECTION))
}

/// `user:password@tcp(host:3306)/name`
fn before_address(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b'=');
    let from = at.saturating_sub(USERINFO_BYTES_MAX);
    let start = bytes[from..at].iter().rposition(ends).map_or(from, |i| from + i + 1);
    let colon = bytes[start..at].iter().position(|b| *b == b':')?;
    Some((start + colon + 1, at))
}

/// `jdbc:oracle:thin:user/password@host`
fn oracle(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let run = class::run(&bytes[from..], class::PATH, USERINFO_BYTES_MAX);
    let text = &bytes[from..from + run];
    let slash = text.iter().position(|b| *b == b'/')?;
    let sign = text.iter().rposition(|b| *b == b'@')?;
    (slash > 0 && slash < sign).then_some((from + slash + 1, from + sign))
}

/// A line of a mail server's password map, after the port: `[host]:587 user:password`.
fn mail_line(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let rest = &bytes[from..];
    let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let word = &rest[blanks..];
    let word = &word[..word.iter().position(u8::is_ascii_whitespace).unwrap_or(word.len())];
    let colon = word.iter().position(|b| *b == b':')?;
    let start = from + blanks + colon + 1;
    (blanks > 0 && colon > 0).then_some((start, from + blanks + word.len()))
}

/// A line of a `.pgpass` file, after the port: `host:5432:name:user:password`.
fn password_line(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let line = &bytes[from..];
    let line = &line[..line.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(line.len())];
    let mut colons = line.iter().enumerate().filter(|(_, b)| **b == b':').map(|(i, _)| i);
    let (name, user) = (colons.next()?, colons.next()?);
    let is_name =
        |text: &[u8]| !text.is_empty() && text.iter().all(|b| class::has(class::TILDE, *b) || *b == b'*');
    let password = &line[user + 1..];
    let one_word = !password.iter().any(u8::is_ascii_whitespace);
    (is_name(&line[..name]) && is_name(&line[name + 1..user]) && one_word)
        .then_some((from + user + 1, from + line.len()))
}
