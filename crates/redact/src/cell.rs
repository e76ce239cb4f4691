//! Finds the value in the cell beside a label: rows of a table with a name and a value, HTML and XML
//! pairs, lists that print names and values in turn, and forms.

use std::ops::Range;

use super::judge::is_chosen;
use super::literal::{self, opening_quote_at};
use super::reference::is_placeholder;
use super::rules::RuleId;
use super::value::{self, ValueRandomness};

const NAMED_VALUE: RuleId = RuleId::named("named-value");
/// Maximum length of the text before the name in its cell.
const LABEL_BYTES_MAX: usize = 40;
/// Maximum length of the tags between a label and its value.
const TAGS_BYTES_MAX: usize = 200;
/// Maximum length of the start of an element with attributes.
const ELEMENT_BYTES_MAX: usize = 400;
/// Maximum length of a row of a table of HTML.
const ROW_BYTES_MAX: usize = 2000;
/// How many lines of an item of YAML are searched for its value.
const ITEM_LINES_MAX: usize = 8;

/// Start and end of a secret, and its rule.
type SecretMatch = (usize, usize, RuleId);

/// The secret beside the label whose name is at `name`.
pub(super) fn value_beside(bytes: &[u8], name: Range<usize>) -> Option<SecretMatch> {
    let after = name.end + bytes[name.end..].iter().take(8).take_while(|b| b"*_`\"':) ".contains(b)).count();
    let value = match bytes.get(after..)? {
        [b'|', ..] => row_value(bytes, &name, after, b"|"),
        [0xE2, 0x94, 0x82, ..] => row_value(bytes, &name, after, "│".as_bytes()),
        [0xE2, 0x95, 0x91, ..] => row_value(bytes, &name, after, "║".as_bytes()),
        [b'<', ..] => {
            let beside = element_value(bytes, &name, after).filter(|value| is_secret(&bytes[value.clone()]));
            beside.or_else(|| column_value(bytes, &name))
        }
        [b'>', ..] => {
            attribute_content(bytes, &name, after + 1).or_else(|| nested_content(bytes, &name, after + 1))
        }
        _ => None,
    };
    let value = value
        .or_else(|| listed_value(bytes, name.end))
        .or_else(|| form_value(bytes, name.end))
        .or_else(|| input_value(bytes, &name))
        .or_else(|| item_value(bytes, &name))?;
    is_secret(&bytes[value.clone()]).then_some((value.start, value.end, NAMED_VALUE))
}

fn is_secret(value: &[u8]) -> bool {
    let weight = value::classify_value(value);
    (is_chosen(value, weight) || weight == ValueRandomness::Random)
        && !is_placeholder(value)
        && !value.iter().any(|b| b"({".contains(b))
}

/// The cell behind the one of the label, unless the row is a header.
fn row_value(bytes: &[u8], name: &Range<usize>, bar: usize, sign: &[u8]) -> Option<Range<usize>> {
    let line = line_start(bytes, name.start, LABEL_BYTES_MAX * 4)?;
    let label = memchr::memmem::rfind(&bytes[line..name.start], sign).map_or(line, |i| line + i + sign.len());
    let before = &bytes[label..name.start];
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b" *_`-./\"'".contains(b) || !b.is_ascii();
    if before.len() > LABEL_BYTES_MAX || !before.iter().all(plain) {
        return None;
    }
    let end = line_end(bytes, bar);
    if is_rule_below(bytes, end) {
        return None;
    }
    let start = bar + sign.len();
    let stop = memchr::memmem::find(&bytes[start..end], sign).map_or(end, |i| start + i);
    Some(trimmed(bytes, start..stop))
}

/// Whether the line below separates a header from its rows.
fn is_rule_below(bytes: &[u8], end: usize) -> bool {
    let below = bytes.get(end + 1..).unwrap_or_default();
    let below = &below[..below.iter().position(|b| *b == b'\n').unwrap_or(below.len()).min(400)];
    let of_rule = |b: &u8| b"-+|:= \t\r".contains(b) || !b.is_ascii();
    below.len() >= 3
        && below.iter().all(of_rule)
        && (below.contains(&b'-') || below.contains(&b'=') || below.contains(&0x94))
}

/// The text of the element behind the one of the label: `<td>Password</td><td>…</td>`.
fn element_value(bytes: &[u8], name: &Range<usize>, open: usize) -> Option<Range<usize>> {
    let label = bytes[..name.start].iter().rev().take(LABEL_BYTES_MAX).take_while(|b| **b != b'>').count();
    if bytes.get(name.start.wrapping_sub(label + 1)) != Some(&b'>') || label == LABEL_BYTES_MAX {
        return None;
    }
    let limit = bytes.len().min(open + TAGS_BYTES_MAX);
    let (mut here, mut closed, mut opened) = (open, false, false);
    while here < limit {
        match bytes[here] {
            b'<' => {
                let is_closing = bytes.get(here + 1) == Some(&b'/');
                closed |= is_closing;
                opened |= closed && !is_closing;
                here += bytes[here..limit].iter().position(|b| *b == b'>')? + 1;
            }
            b' ' | b'\t' | b'\n' | b'\r' => here += 1,
            _ => break,
        }
    }
    (closed && opened).then(|| content(bytes, here)).flatten()
}

/// The text of an element one of whose attributes is the name: `<property name="db.password">…`.
fn attribute_content(bytes: &[u8], name: &Range<usize>, start: usize) -> Option<Range<usize>> {
    let open = element_start(bytes, name.start)?;
    let attribute = bytes[open..name.start].contains(&b'=');
    attribute.then(|| content(bytes, start)).flatten()
}

/// The text of the element inside the element of this name: `<Password><Value>…`.
fn nested_content(bytes: &[u8], name: &Range<usize>, start: usize) -> Option<Range<usize>> {
    let start = start + bytes[start..].iter().take(40).take_while(|b| b.is_ascii_whitespace()).count();
    let opens = bytes[..name.start].last() == Some(&b'<') && bytes.get(start) == Some(&b'<');
    let tag = bytes[start..].iter().take(40).position(|b| *b == b'>').filter(|_| opens)?;
    (bytes.get(start + 1) != Some(&b'/')).then(|| content(bytes, start + tag + 1)).flatten()
}

/// The cell below the header of this name in a table of HTML.
fn column_value(bytes: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let from = name.start.saturating_sub(ROW_BYTES_MAX);
    let header = &bytes[from..name.start];
    let row = memchr::memmem::rfind(header, b"<tr")?;
    let cell = memchr::memmem::rfind(header, b"<th").filter(|cell| *cell > row)?;
    let column = memchr::memmem::find_iter(&header[row..=cell], b"<th").count();
    let below = name.end
        + memchr::memmem::find(&bytes[name.end..bytes.len().min(name.end + ROW_BYTES_MAX)], b"</tr>")?;
    let limit = bytes.len().min(below + ROW_BYTES_MAX);
    let cell = memchr::memmem::find_iter(&bytes[below..limit], b"<td").nth(column)?;
    let mut start = below + cell;
    while bytes.get(start) == Some(&b'<') {
        start += bytes[start..limit].iter().position(|b| *b == b'>')? + 1;
    }
    content(bytes, start)
}

/// The text up to the next tag.
fn content(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let length = memchr::memchr(b'<', &bytes[start..])?;
    Some(trimmed(bytes, start..start + length))
}

/// Where the element starts whose attributes are around `at`.
fn element_start(bytes: &[u8], at: usize) -> Option<usize> {
    let from = at.saturating_sub(ELEMENT_BYTES_MAX);
    let open = bytes[from..at].iter().rposition(|b| matches!(b, b'<' | b'>'))? + from;
    (bytes[open] == b'<' && bytes.get(open + 1).is_some_and(u8::is_ascii_alphabetic)).then_some(open)
}

/// The `value` of an input whose type or name is at `name`.
fn input_value(bytes: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let open = element_start(bytes, name.start)?;
    let limit = bytes.len().min(open + ELEMENT_BYTES_MAX);
    let close = open + bytes[open..limit].iter().position(|b| *b == b'>')?;
    let at = open + memchr::memmem::find(&bytes[open..close], b" value=")? + 7;
    match opening_quote_at(bytes, at) {
        Some(quote) => Some(quote.end..literal::literal_end(bytes, quote)),
        None => Some(at..at + bytes[at..close].iter().take_while(|b| !b.is_ascii_whitespace()).count()),
    }
}

/// The entry after the one with the name, in a list of names and values: `3) "password"`, `4) "…"`,
/// or `["password"]=>` and `string(14) "…"`.
fn listed_value(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    let rest = bytes.get(end..)?;
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'"))?;
    let rest = rest.strip_prefix(b"]=>").unwrap_or(rest);
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest).strip_prefix(b"\n")?;
    let mark = |b: &&u8| b.is_ascii_digit() || b" \t)(".contains(b) || b"string".contains(b);
    let skipped = rest.iter().take(32).take_while(mark).count();
    let numbered = rest[..skipped].contains(&b')');
    let at = bytes.len() - rest.len() + skipped;
    let quote = opening_quote_at(bytes, at).filter(|_| numbered)?;
    Some(quote.end..literal::literal_end(bytes, quote))
}

/// The content of a part of a form: `name="password"`, an empty line, and the value.
fn form_value(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    let rest = bytes.get(end..)?.strip_prefix(b"\"")?;
    let rest = rest.strip_prefix(b"\r\n\r\n").or_else(|| rest.strip_prefix(b"\n\n"))?;
    let start = bytes.len() - rest.len();
    Some(trimmed(bytes, start..line_end(bytes, start)))
}

/// The `value:` of an item of YAML whose `name:` is the name, before or after it.
fn item_value(bytes: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let line = line_start(bytes, name.start, 120)?;
    let own = bytes[line..name.start].trim_ascii().trim_ascii_end();
    let own = own.strip_prefix(b"- ").unwrap_or(own).trim_ascii();
    if !matches!(
        own,
        b"name:" | b"key:" | b"name: \"" | b"key: \"" | b"name: '" | b"key: '" | b"Name:" | b"Key:"
    ) {
        return None;
    }
    let is_item = bytes[line..name.start].trim_ascii_start().starts_with(b"- ");
    let indent = key_indent(&bytes[line..name.start]);
    // Lines of the same item: after the name, and before it unless the name starts the item.
    let mut here = line_end(bytes, name.end);
    for _ in 0..ITEM_LINES_MAX {
        let start = here + 1;
        if start >= bytes.len() {
            break;
        }
        here = line_end(bytes, start);
        let text = &bytes[start..here];
        if key_indent(text) < indent || text.trim_ascii_start().starts_with(b"- ") {
            break;
        }
        if let Some(value) = yaml_value(bytes, start..here, indent) {
            return Some(value);
        }
    }
    let mut start = line;
    for _ in 0..ITEM_LINES_MAX {
        if is_item || start == 0 {
            return None;
        }
        let end = start - 1;
        start = memchr::memrchr(b'\n', &bytes[..end]).map_or(0, |i| i + 1);
        if key_indent(&bytes[start..end]) < indent {
            return None;
        }
        if let Some(value) = yaml_value(bytes, start..end, indent) {
            return Some(value);
        }
        if bytes[start..end].trim_ascii_start().starts_with(b"- ") {
            return None;
        }
    }
    None
}

/// The value of a line `value: …` at this indentation.
fn yaml_value(bytes: &[u8], line: Range<usize>, indent: usize) -> Option<Range<usize>> {
    let text = &bytes[line.clone()];
    if key_indent(text) != indent {
        return None;
    }
    let rest = text.get(indent..)?.strip_prefix(b"value:")?;
    Some(trimmed(bytes, line.end - rest.len()..line.end))
}

/// The column at which the key of a line of YAML starts; the dash of an item counts as a blank.
fn key_indent(line: &[u8]) -> usize {
    line.iter().take_while(|b| matches!(b, b' ' | b'-' | b'\t')).count()
}

fn line_start(bytes: &[u8], at: usize, reach: usize) -> Option<usize> {
    let from = at.saturating_sub(reach);
    match bytes[from..at].iter().rposition(|b| *b == b'\n') {
        Some(i) => Some(from + i + 1),
        None => (from == 0).then_some(0),
    }
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    memchr::memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |i| from + i)
}

/// The range without blanks, Markdown and quotation marks around it.
fn trimmed(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    let outer = |b: &&u8| b.is_ascii_whitespace() || b"*_`\"'".contains(b);
    let text = &bytes[range.clone()];
    let before = text.iter().take_while(outer).count();
    let after = text[before..].iter().rev().take_while(outer).count();
    range.start + before..range.end - after
}
