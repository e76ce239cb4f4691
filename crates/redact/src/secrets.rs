//! Finds secrets in one pass and masks them.
//!
//! A sliding window of four bytes is tested against a bitmap of all anchors; scanners run only
//! where it reports a possible anchor. Ordinary text costs a few instructions per byte and no
//! allocation.

use super::plain_view::PlainView;
use super::rules::{AnchorKey, AnchorScanner, RuleAnchor, RuleId};
use super::secret_span::SecretSpan;
use super::shell_words::CommandReach;
use super::value_form::is_wordlike;
use super::{
    assign, class, code_list, command, connection, console, cookie, encoded, generated_password, json_text,
    manifest, neighbour, pem, prose, query, scheme, shape, table, url, value,
};

/// How far around a place that may hide a secret the text is read as a person sees it.
const HIDDEN_BYTES_MAX: usize = 1024;
/// A secret of at least this length may have been examined only in part.
const JUDGED_BYTES_MIN: usize = 400;
/// A secret of at least this length may continue on the next line.
const WRAPPED_BYTES_MIN: usize = 60;
/// Maximum masking rounds: masking one secret can reveal the shape of another, rarely more than
/// once.
const ROUNDS_MAX: usize = 8;

/// All secrets of `text` in order, without overlaps.
pub(super) fn find(text: &str) -> Vec<SecretSpan> {
    let mut scan = scan(text);
    encoded::find(text, contains_secret, &mut scan.spans);
    generated_password::find(text, &mut scan.spans);
    if scan.has_names || is_vault_answer(text) {
        json_text::find(text, find, &mut scan.spans);
    }
    console::find(text, &mut scan.spans);
    scan.obscured.extend(hiding_places(text.as_bytes()));
    if !scan.obscured.is_empty() {
        find_hidden(text, &mut scan);
    }
    merged(scan.spans)
}

/// Whether the text is JSON of a store of secrets, in which no name need promise anything.
fn is_vault_answer(text: &str) -> bool {
    text.starts_with('{') && ["\"lease_id\"", "\"metadata\""].iter().any(|name| text.contains(name))
}

/// Whether a decoded text contains a secret. What is encoded in it in turn is not decoded.
fn contains_secret(text: &str) -> bool {
    let mut spans = scan(text).spans;
    if spans.is_empty() {
        generated_password::find(text, &mut spans);
    }
    !spans.is_empty()
}

/// Finds the secrets around the places where something may hide them.
fn find_hidden(text: &str, scan: &mut AnchorScan) {
    scan.obscured.sort_unstable();
    let mut read_until = 0;
    let places = std::mem::take(&mut scan.obscured);
    for (i, &place) in places.iter().enumerate() {
        if place < read_until {
            continue;
        }
        // One window for all places that are near each other.
        let near = |(before, after): &(usize, usize)| after - before <= HIDDEN_BYTES_MAX;
        let pairs = places[i..].iter().copied().zip(places[i + 1..].iter().copied());
        let last = pairs.take_while(near).last().map_or(place, |(_, last)| last);
        let start = text.floor_char_boundary(place.saturating_sub(HIDDEN_BYTES_MAX).max(read_until));
        let end = text.ceil_char_boundary((last + HIDDEN_BYTES_MAX).min(text.len()));
        read_until = end;
        if let Some(view) = PlainView::read(&text[start..end]) {
            let hidden = self::scan(&view.text).spans;
            scan.spans.extend(hidden.into_iter().map(|span| view.original(span, start)));
        }
    }
}

/// Where a control character stands inside a word.
fn hiding_places(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let of_word = |b: Option<&u8>| b.is_some_and(|b| class::has(class::URL, *b));
    memchr::memchr2_iter(0, 0x1b, bytes).filter(move |&at| {
        let length = claude_mem_core::glyph::terminal_sequence(&bytes[at..]).unwrap_or(1);
        of_word(bytes[..at].last()) && of_word(bytes.get(at + length))
    })
}

/// The secrets found at the anchors of a text.
#[derive(Default)]
struct AnchorScan {
    spans: Vec<SecretSpan>,
    /// Where something in the text may hide a secret from the scanners.
    obscured: Vec<usize>,
    /// Whether a word that occurs in names of secrets was seen.
    has_names: bool,
    reach: CommandReach,
}

/// Runs the scanners at all anchors of `text`.
fn scan(text: &str) -> AnchorScan {
    let mut scan = AnchorScan::default();
    let mut from = 0;
    // The next secret already found; its inside is not scanned.
    let mut ahead: Option<SecretSpan> = None;
    loop {
        let until = ahead.map_or(text.len(), |span| span.start);
        if let Some((span, after)) = next_secret(text, from, until, &mut scan) {
            scan.spans.push(span);
            from = after;
            if ahead.is_none_or(|other| span.start < other.start) {
                ahead = Some(span);
            }
        } else if let Some(span) = ahead.take() {
            from = from.max(span.end);
        } else {
            return scan;
        }
    }
}

/// The first secret whose anchor starts in `text[from..until]`, and where to continue.
fn next_secret(text: &str, from: usize, until: usize, scan: &mut AnchorScan) -> Option<(SecretSpan, usize)> {
    let bytes = text.as_bytes();
    let mut here = from;
    while here < until {
        let last = until.saturating_add(3).min(bytes.len());
        let windows = bytes[here..last].windows(4);
        let mut start = here + windows.len();
        for (i, window) in windows.enumerate() {
            if AnchorKey::may_anchor([window[0], window[1], window[2], window[3]]) {
                start = here + i;
                break;
            }
        }
        // An anchor at the end may be shorter than the window.
        if start >= until || start + AnchorKey::BYTES > bytes.len() {
            return None;
        }
        if let Some(span) = match_anchors(text, start, AnchorKey::from_bytes(&bytes[start..]), scan) {
            return Some((span, start + 1));
        }
        here = start + 1;
    }
    None
}

/// Sorts spans and merges overlapping ones: the end of a key may reach back over an earlier match.
fn merged(mut spans: Vec<SecretSpan>) -> Vec<SecretSpan> {
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    spans.dedup_by(|later, earlier| {
        let overlap = later.start < earlier.end;
        if overlap {
            earlier.end = earlier.end.max(later.end);
        }
        overlap
    });
    spans
}

/// The text with its secrets masked, and their number. `None` if it has none.
pub(super) fn mask(text: &str) -> Option<(String, u32)> {
    let mut spans = find(text);
    if spans.is_empty() {
        return None;
    }
    let mut masked = 0;
    let mut out = text.to_owned();
    for _ in 0..ROUNDS_MAX {
        masked += spans.len() as u32;
        out = replace(&out, &spans);
        spans = find(&out);
        if spans.is_empty() {
            break;
        }
    }
    Some((out, masked))
}

/// Replaces the spans by their masks.
pub(super) fn replace(text: &str, spans: &[SecretSpan]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for span in spans {
        out.push_str(&text[from..span.start]);
        span.push_mask(&mut out);
        from = span.end;
    }
    out.push_str(&text[from..]);
    out
}

/// The secret found by an anchor at `start`, if any.
#[inline(never)]
fn match_anchors(text: &str, start: usize, key: AnchorKey, scan: &mut AnchorScan) -> Option<SecretSpan> {
    let bytes = text.as_bytes();
    key.anchors(&bytes[start..]).find_map(|anchor| {
        let (start, end, rule) = run_scanner(bytes, start, anchor, scan)?;
        if is_example(&bytes[start..end]) {
            return None;
        }
        // Secrets are ASCII, but a quoted value may contain any character.
        let start = text.ceil_char_boundary(start);
        let end = text.ceil_char_boundary(natural_end(bytes, start, end));
        (start < end).then_some(SecretSpan { start, end, rule })
    })
}

/// Whether it is an example from the documentation of a service.
fn is_example(secret: &[u8]) -> bool {
    secret.ends_with(b"EXAMPLE") || secret.ends_with(b"EXAMPLEKEY")
}

/// Where the secret really ends. Scanners examine a bounded part of a value; what continues a long one
/// without a gap belongs to it.
fn natural_end(bytes: &[u8], start: usize, end: usize) -> usize {
    if let Some(end) = continued_end(bytes, start, end) {
        return end;
    }
    if end - start < JUDGED_BYTES_MIN {
        return wrapped_end(bytes, start, end);
    }
    let quote = start.checked_sub(1).map(|before| bytes[before]).filter(|b| matches!(b, b'"' | b'\'' | b'`'));
    let goes_on = |b: &&u8| match quote {
        Some(quote) => **b != quote && !matches!(**b, b'\n' | b'\\'),
        None => b.is_ascii_graphic() && !b"\"'`<>,;(){}[]&\\".contains(b),
    };
    end + bytes[end..].iter().take_while(goes_on).count()
}

/// Where a long secret ends that was wrapped into lines of the same length.
fn wrapped_end(bytes: &[u8], start: usize, end: usize) -> usize {
    let width = end - start;
    if width < WRAPPED_BYTES_MIN {
        return end;
    }
    let mut stop = end;
    while bytes.get(stop) == Some(&b'\n') {
        let length = class::run(&bytes[stop + 1..], class::B64 | class::URL, usize::MAX);
        let ends_line = bytes.get(stop + 1 + length).is_none_or(|b| *b == b'\n');
        let line = &bytes[stop + 1..stop + 1 + length];
        if !ends_line || length < 16 || length > width + 32 || !value::is_random(line) {
            break;
        }
        stop += 1 + length;
    }
    stop
}

/// Where a secret ends that was cut in two: by a backslash at the end of a line, or into strings that
/// are joined, `'…' + '…'`.
fn continued_end(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let next = match &bytes[end..] {
        [b'\\', b'\n', ..] => end + 2,
        // A terminal wrapped the line; an environment line would go on with its name.
        [b'\r', b'\n', rest @ ..] if end - start >= 16 => {
            let length = class::run(rest, class::URL, usize::MAX);
            let ends = rest.get(length).is_none_or(u8::is_ascii_whitespace);
            let random = length >= 8 && value::is_random(&[&bytes[start..end], &rest[..length]].concat());
            return (ends
                && random
                && value::is_random(&bytes[start..end])
                && is_continuation(&rest[..length]))
            .then_some(end + 2 + length);
        }
        [b'\n', ..] if end > 0 && bytes[end - 1] == b'\\' => end + 1,
        // A string that its quotation mark ends on the next line.
        [b'\n', rest @ ..] if matches!(bytes[..start].last(), Some(b'"' | b'\'')) => {
            let length = class::run(rest, class::DOTTED, usize::MAX);
            return (length >= 8 && rest.get(length) == bytes[..start].last()).then_some(end + 1 + length);
        }
        // `"…"'…'` in a shell.
        [b'"', quote @ b'\'', rest @ ..] | [b'\'', quote @ b'"', rest @ ..] => {
            let length = rest.iter().take(64).take_while(|b| *b != quote && b.is_ascii_graphic()).count();
            return (length >= 4 && rest.get(length) == Some(quote)).then_some(end + 2 + length);
        }
        [quote @ (b'"' | b'\''), rest @ ..] => {
            let joint = rest.iter().take(24).take_while(|b| b" \t\n+.".contains(b)).count();
            let joined = rest[..joint].contains(&b'+') && rest.get(joint) == Some(quote);
            joined.then_some(end + joint + 2)?
        }
        _ => return None,
    };
    let length = class::run(&bytes[next..], class::DOTTED, usize::MAX);
    (length >= 8).then_some(next + length)
}

/// Whether it continues a token: letters and digits in turn, not words.
fn is_continuation(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_digit) && text.iter().any(u8::is_ascii_alphabetic) && !is_wordlike(text)
}

/// Runs the anchor's scanner.
fn run_scanner(
    bytes: &[u8],
    at: usize,
    anchor: &RuleAnchor,
    scan: &mut AnchorScan,
) -> Option<(usize, usize, RuleId)> {
    let end = at + anchor.len();
    match anchor.scanner {
        AnchorScanner::Shape => {
            let found = shape::match_at(bytes, at, anchor);
            if found.is_none() && shape::breaks_off(bytes, end) {
                scan.obscured.push(at);
            }
            found.map(|(start, end)| (start, end, anchor.rule))
        }
        AnchorScanner::Name | AnchorScanner::Word => {
            scan.has_names = true;
            let found = assign::secret_at(bytes, at, anchor);
            if found.is_some() {
                return found;
            }
            if let Some(name) = assign::header_name(bytes, at, anchor) {
                let foreign = anchor.scanner == AnchorScanner::Word;
                table::find(bytes, name, foreign, &mut scan.spans);
            }
            if assign::is_coloured(bytes, at, anchor) {
                scan.obscured.push(at);
            }
            None
        }
        AnchorScanner::Named => assign::secret_at(bytes, at, anchor),
        AnchorScanner::Url => url::secret_at(bytes, at).or_else(|| query::secret_at(bytes, at)),
        AnchorScanner::Pem => pem::secret_at(bytes, at),
        AnchorScanner::Scheme => scheme::secret_at(bytes, at, anchor.len()),
        AnchorScanner::Cookie => {
            scan.has_names = true;
            cookie::secret_at(bytes, at + anchor.len())
        }
        AnchorScanner::Manifest => manifest::secret_at(bytes, at, anchor.len()),
        AnchorScanner::Command => command::secret_at(bytes, at, anchor, &mut scan.reach),
        AnchorScanner::SeedPhrase => {
            let name = anchor.text().trim_end_matches([' ', ':', '=']).trim_end_matches(" is");
            prose::seed_phrase(bytes, at + name.len())
        }
        AnchorScanner::AccessCode => {
            prose::access_code(bytes, at, at + anchor.text().trim_end_matches([' ', ':', '=', '"']).len())
        }
        AnchorScanner::PaymentNumber => prose::payment_number(bytes, at, end),
        AnchorScanner::Login => prose::login(bytes, end),
        AnchorScanner::CodeList => code_list::secret_at(bytes, end),
        AnchorScanner::Connection => connection::secret_at(bytes, at, anchor.text()),
        AnchorScanner::Neighbour => match anchor.text() {
            "\"kty\"" => neighbour::private_key_part(bytes, at),
            "\"httponly\"" | "\"samesite\"" => neighbour::cookie_value(bytes, at),
            _ => neighbour::secret_beside(bytes, at),
        },
        AnchorScanner::Obscuring => {
            scan.obscured.push(at);
            None
        }
    }
}
