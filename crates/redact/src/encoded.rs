//! Finds secrets in long runs of token bytes: encoded texts that contain a secret, keys without
//! their header, and generated values of environment lines.
//!
//! Runs are found by looking at every [`STRIDE_BYTES`]th byte only. Base64 and hexadecimal runs are
//! decoded once: if the first bytes are text, the text is searched like any other, and the mask
//! covers the whole run, however long it is.

use super::class::{self, ByteClass};
use super::reference::is_placeholder;
use super::rules::RuleId;
use super::secret_span::SecretSpan;
use super::value::{self, ValueRandomness};
use super::value_form;

const ENCODED_SECRET: RuleId = RuleId::named("encoded-secret");
const HIGH_ENTROPY: RuleId = RuleId::named("high-entropy");
const PRIVATE_KEY: RuleId = RuleId::named("private-key");
const BOT_TOKEN: RuleId = RuleId::named("bot-token");

/// Every run of this length contains a byte at a multiple of it.
const STRIDE_BYTES: usize = 23;
/// A run of that length reaches at least this far to one side of the byte.
const HALF_BYTES: usize = STRIDE_BYTES / 2;
/// Minimum length of a generated value.
const GENERATED_BYTES_MIN: usize = 20;
/// Minimum length of an encoded text.
const ENCODED_BYTES_MIN: usize = 40;
/// How much of a decoded text is searched.
const DECODED_BYTES_MAX: usize = 16 << 10;
/// Encoded bytes that must decode to text before the rest is decoded.
const PROBE_BYTES: usize = 24;
/// The length of a line of a key: 64 in PEM format, 70 in keys of SSH.
const KEY_LINE_BYTES: [usize; 2] = [64, 70];
/// How far after key lines the end mark of a certificate may stand.
const END_MARK_BYTES_MAX: usize = 24;
/// Minimum number of such lines.
const KEY_LINES_MIN: usize = 3;
/// How far before key lines the header of a certificate may stand.
const HEADER_BYTES_MAX: usize = 300;

const RUN: ByteClass = class::B64 | class::URL;

/// Whether a text contains a secret.
type TextTest = fn(&str) -> bool;

/// Appends the secrets found in long runs.
pub(super) fn find(text: &str, contains_secret: TextTest, spans: &mut Vec<SecretSpan>) {
    let bytes = text.as_bytes();
    let mut at = STRIDE_BYTES - 1;
    while let Some(&byte) = bytes.get(at) {
        if !class::has(RUN, byte) || !may_be_long(bytes, at) {
            at += STRIDE_BYTES;
            continue;
        }
        let start = at - class::run_back(&bytes[..at], RUN, usize::MAX);
        let end = at + class::run(&bytes[at..], RUN, usize::MAX);
        let mut after = end;
        if end - start >= STRIDE_BYTES
            && let Some((start, end, rule)) = secret_run(bytes, start, end, contains_secret)
        {
            spans.push(SecretSpan { start, end, rule });
            after = end;
        }
        // The next run of the minimum length contains this byte.
        at = after + STRIDE_BYTES;
    }
}

/// Whether the run around `at` may have the minimum length: then it reaches half of it to one side.
fn may_be_long(bytes: &[u8], at: usize) -> bool {
    // Blanks, dots and quotation marks end most runs, and the compiler makes vector operations of this.
    let may_be_run = |side: &[u8]| side.iter().fold(true, |so_far, b| so_far & may_be_of_run(*b));
    let before = bytes.get(at - HALF_BYTES..at);
    let after = bytes.get(at + 1..=at + HALF_BYTES);
    before.is_some_and(may_be_run) || after.is_some_and(may_be_run)
}

/// A cheap upper bound of the class [`RUN`]: it lets more bytes pass, but none of the class is missed.
const fn may_be_of_run(byte: u8) -> bool {
    byte > b'.' || byte == b'+' || byte == b'-'
}

/// The secret in the run at `bytes[start..end]`.
fn secret_run(
    bytes: &[u8],
    start: usize,
    end: usize,
    contains_secret: TextTest,
) -> Option<(usize, usize, RuleId)> {
    if let Some(end) = bot_token(bytes, start, end) {
        return Some((start, end, BOT_TOKEN));
    }
    if is_tunnel_token(&bytes[start..end]) {
        return Some((start, end, BOT_TOKEN));
    }
    if let Some(found) = environment_value(bytes, start, end) {
        return Some(found);
    }
    // `NAME=` and `data:…,` before the text, `sha512-` before a checksum.
    let start = start
        + bytes[start..end]
            .iter()
            .rposition(|b| *b == b'=')
            .filter(|sign| start + sign + 3 < end)
            .map_or(0, |sign| sign + 1);
    if end - start < ENCODED_BYTES_MIN {
        return None;
    }
    if is_hex_text(&bytes[start..end]) {
        let decoded = decode_hex(&bytes[start..end]);
        return contains_secret(&decoded).then_some((start, end, ENCODED_SECRET));
    }
    if is_base64_text(&bytes[start..end]) {
        let (decoded, end) = decode_lines(bytes, start, end);
        let inner = decoded.trim_end();
        let twice = inner.len() >= ENCODED_BYTES_MIN && is_base64_text(inner.as_bytes());
        let again = if twice { decode_lines(inner.as_bytes(), 0, inner.len()).0 } else { String::new() };
        let secret =
            holds_secret(&decoded, contains_secret) || twice && holds_secret(&again, contains_secret);
        return secret.then_some((start, end, ENCODED_SECRET));
    }
    key_lines(bytes, start, end)
}

/// Whether a decoded text contains a secret: a private key, or whatever else is found in it.
fn holds_secret(decoded: &str, contains_secret: TextTest) -> bool {
    (decoded.contains("-----BEGIN") && decoded.contains("PRIVATE KEY")) || contains_secret(decoded)
}

/// The value of an environment line whose name says nothing, if it is clearly generated.
fn environment_value(bytes: &[u8], start: usize, end: usize) -> Option<(usize, usize, RuleId)> {
    let sign = bytes[start..end].iter().position(|b| *b == b'=')?;
    let (name, value) = (&bytes[start..start + sign], &bytes[start + sign + 1..end]);
    let is_name = name.len() >= 3
        && name[0].is_ascii_uppercase()
        && name.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
    let ends = bytes.get(end).is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'\\'));
    let own_word = matches!(bytes[..start].last(), None | Some(b'\n' | b' ' | b'\t' | b'"' | b'\''))
        || bytes[..start].ends_with("→".as_bytes());
    let varied = value.iter().any(u8::is_ascii_lowercase)
        && value.iter().any(u8::is_ascii_uppercase)
        && value.iter().any(u8::is_ascii_digit);
    let generated = is_name
        && ends
        && own_word
        && varied
        && value.len() >= GENERATED_BYTES_MIN
        && value::classify_value(value) == ValueRandomness::Random
        && !is_identifier_name(name)
        && !is_placeholder(value);
    generated.then_some((start + sign + 1, end, HIGH_ENTROPY))
}

/// Whether the name says that the value is public: an id, a hash, a version.
fn is_identifier_name(name: &[u8]) -> bool {
    const PARTS: &str = "ID IDS HASH SHA SHA1 SHA256 SHA512 CHECKSUM DIGEST COMMIT VERSION IMAGE TAG PUBLIC URL \
        PATH FILE DIR HOST INTEGRITY ETAG UUID GUID NAME REF FINGERPRINT TRACE BUILD RELEASE SITE PUBLISHABLE CACHE REVISION SLUG MEASUREMENT VAPID";
    name.split(|b| *b == b'_').any(|word| PARTS.split_ascii_whitespace().any(|part| word == part.as_bytes()))
}

/// Where a bot's token ends that starts with the run: an id in base64, a time and a signature.
fn bot_token(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let id = end - start;
    if !(23..=28).contains(&id)
        || !matches!(bytes[start], b'M' | b'N' | b'O')
        || bytes.get(end) != Some(&b'.')
    {
        return None;
    }
    let time = class::run(&bytes[end + 1..], class::URL, 8);
    let dot = end + 1 + time;
    if !(5..=7).contains(&time) || bytes.get(dot) != Some(&b'.') {
        return None;
    }
    let signature = class::run(&bytes[dot + 1..], class::URL, 64);
    (27..=40).contains(&signature).then_some(dot + 1 + signature)
}

/// Whether it is a token of a tunnel service: an id with a time, and a secret.
fn is_tunnel_token(run: &[u8]) -> bool {
    (47..=51).contains(&run.len())
        && matches!(run[0], b'1' | b'2' | b'3')
        && run[27] == b'_'
        && run.iter().filter(|b| !b.is_ascii_alphanumeric()).count() == 1
        && value::is_random(run)
}

fn is_text(decoded: &[u8]) -> bool {
    decoded.iter().all(|b| b.is_ascii_graphic() || matches!(b, b' ' | b'\n' | b'\r' | b'\t'))
}

/// Whether the run starts like a text in hexadecimal digits.
fn is_hex_text(run: &[u8]) -> bool {
    run.len().is_multiple_of(2)
        && value_form::is_hex(run)
        && is_text(decode_hex(&run[..run.len().min(2 * PROBE_BYTES)]).as_bytes())
}

/// The text of hexadecimal digits; empty if it is none.
fn decode_hex(run: &[u8]) -> String {
    let digit = |b: u8| char::from(b).to_digit(16).unwrap_or(0) as u8;
    let bytes: Vec<u8> = run
        .chunks_exact(2)
        .take(DECODED_BYTES_MAX)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect();
    if is_text(&bytes) { String::from_utf8(bytes).unwrap_or_default() } else { "\u{0}".to_owned() }
}

/// Whether the run starts like a text in base64.
fn is_base64_text(run: &[u8]) -> bool {
    let mut decoded = Vec::with_capacity(PROBE_BYTES);
    run[..PROBE_BYTES / 3 * 4].chunks_exact(4).all(|digits| {
        decoded.clear();
        decode_base64(digits, &mut decoded);
        decoded.len() == 3 && is_text(&decoded)
    })
}

/// The decoded text of the run and of the lines that continue it, and where they end.
fn decode_lines(bytes: &[u8], start: usize, end: usize) -> (String, usize) {
    let mut decoded = Vec::new();
    let mut digits: Vec<u8> = bytes[start..end].to_vec();
    let (line_bytes, mut stop) = (end - start, end);
    while let Some(next) = next_line(bytes, stop) {
        let length = class::run(&bytes[next..], RUN, usize::MAX);
        if length == 0 || length > line_bytes || line_bytes < 60 {
            break;
        }
        digits.extend_from_slice(&bytes[next..next + length]);
        stop = next + length;
        if length < line_bytes {
            break;
        }
    }
    digits.truncate(DECODED_BYTES_MAX / 3 * 4);
    decode_base64(&digits, &mut decoded);
    (String::from_utf8_lossy(&decoded).into_owned(), stop)
}

/// Where the next line starts, if the run ends its own.
fn next_line(bytes: &[u8], end: usize) -> Option<usize> {
    match bytes.get(end..)? {
        [b'\r', b'\n', ..] | [b'\\', b'n', ..] => Some(end + 2),
        [b'\n', rest @ ..] => {
            Some(end + 1 + rest.iter().take(16).take_while(|b| matches!(b, b' ' | b'\t')).count())
        }
        _ => None,
    }
}

/// Decodes standard and URL-safe base64, up to the padding.
fn decode_base64(run: &[u8], out: &mut Vec<u8>) {
    let (mut bits, mut held) = (0_u32, 0);
    for &b in run {
        let digit = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
}

/// The lines of a key without its header: several lines of the same length as in PEM format, with or
/// without the marks of a patch, a quotation or line numbers before them.
fn key_lines(bytes: &[u8], start: usize, end: usize) -> Option<(usize, usize, RuleId)> {
    let start = start + usize::from(has_patch_mark(&bytes[start..end]));
    let width = end - start;
    let is_key_line = KEY_LINE_BYTES.contains(&width)
        && bytes[start..end].iter().all(|b| class::has(class::B64, *b))
        && !value_form::is_hex(&bytes[start..end])
        && value::is_random(&bytes[start..end]);
    if !is_key_line || is_below_header(&bytes[..start]) {
        return None;
    }
    let (mut stop, mut lines) = (end, 1);
    while let Some(next) = next_key_line(bytes, stop) {
        let length = class::run(&bytes[next..], class::B64, usize::MAX);
        if length == 0 || length > width {
            break;
        }
        stop = next + length;
        lines += 1;
        if length < width {
            break;
        }
    }
    let rest = bytes[stop..].trim_ascii_start();
    let near = &rest[..rest.len().min(END_MARK_BYTES_MAX)];
    let ended = memchr::memmem::find(near, b"-----END").is_some() || rest.starts_with(b"=");
    (lines >= KEY_LINES_MIN && !ended).then_some((start, stop, PRIVATE_KEY))
}

/// Whether the run is a line of a key with the mark of a patch before it.
fn has_patch_mark(run: &[u8]) -> bool {
    matches!(run, [b'+' | b'-', key @ ..] if KEY_LINE_BYTES.contains(&key.len()))
}

/// Where the key continues on the next line, after a line number or the mark of a patch.
fn next_key_line(bytes: &[u8], end: usize) -> Option<usize> {
    let next = next_line(bytes, end)?;
    let rest = &bytes[next..];
    let digits = class::run(rest, class::DIGIT, 6);
    let mark = match &rest[digits..] {
        [b'\t' | b':' | b'|', ..] if digits > 0 => digits + 1,
        [0xE2, 0x86, 0x92, ..] if digits > 0 => digits + 3,
        _ => match rest {
            [b'>' | b'#', b' ', ..] => 2,
            _ => usize::from(has_patch_mark(&rest[..class::run(rest, RUN, 200)])),
        },
    };
    let next = next + mark;
    Some(next + bytes[next..].iter().take(16).take_while(|b| matches!(b, b' ' | b'\t')).count())
}

/// Whether a header that is not followed by its end stands shortly before.
fn is_below_header(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(HEADER_BYTES_MAX)..];
    memchr::memmem::rfind(near, b"-----BEGIN").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheap_test_misses_no_byte_of_a_run() {
        for byte in 0..=u8::MAX {
            assert!(may_be_of_run(byte) || !class::has(RUN, byte), "byte {byte}");
        }
    }
}
