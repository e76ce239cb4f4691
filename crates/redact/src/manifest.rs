//! Finds Kubernetes secrets: everything under `data` and `stringData`, whatever its name.
//!
//! The manifest is a block by its structure, however long: in YAML the lines around `kind` that are
//! indented like it, in JSON the object around it.

use super::json_braces::{closing_brace, opening_brace};
use super::rules::RuleId;

const KUBERNETES_SECRET: RuleId = RuleId::named("kubernetes-secret");

/// The data of the manifest whose `kind` is at `at`; `length` is that of the word.
pub(super) fn secret_at(bytes: &[u8], at: usize, length: usize) -> Option<(usize, usize, RuleId)> {
    if !is_secret(&bytes[at + length..]) {
        return None;
    }
    let quoted = matches!(bytes[..at].last(), Some(b'"'));
    let in_json = if quoted { json_data(bytes, at) } else { None };
    let (start, end) = match in_json {
        Some(found) => found,
        None => yaml_data(bytes, at - usize::from(matches!(bytes[..at].last(), Some(b'"' | b'\''))))?,
    };
    Some((start, end, KUBERNETES_SECRET))
}

/// Whether the kind is a secret: `: Secret`, `": "Secret"`.
fn is_secret(rest: &[u8]) -> bool {
    let joint = |b: &&u8| matches!(**b, b' ' | b':' | b'"' | b'\'' | b'\\');
    let skipped = rest.iter().take(12).take_while(joint).count();
    let value = &rest[skipped..];
    value.starts_with(b"Secret") && !value.get(6).is_some_and(u8::is_ascii_alphanumeric)
}

/// Whether there is anything left to mask.
fn holds_values(block: &[u8]) -> bool {
    let block = block.trim_ascii();
    !block.is_empty() && !block.starts_with(b"[redacted:")
}

/// The block under `data:` or `stringData:` beside the `kind` at `at`.
fn yaml_data(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let line_start = |at: usize| memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |i| i + 1);
    let own_start = line_start(at);
    let indent = indent(&bytes[own_start..at]);
    if own_start + number_bytes(&bytes[own_start..at]) + indent != at {
        return None;
    }
    let mut here = own_start;
    // Back to the first line of the manifest.
    while here > 0 {
        let before = line_start(here - 1);
        let line = &bytes[before..here - 1];
        if ends_manifest(line, indent) || key_value(line, indent, b"kind").is_some() {
            break;
        }
        here = before;
        if starts_item(line, indent) {
            break;
        }
    }
    while here < bytes.len() {
        let end = line_end(bytes, here);
        let line = &bytes[here..end];
        if here > own_start && (ends_manifest(line, indent) || starts_item(line, indent)) {
            return None;
        }
        if let Some(value) =
            [b"data".as_slice(), b"stringData"].iter().find_map(|key| key_value(line, indent, key))
        {
            // `data: {a: b}`
            let in_line = line[value..].trim_ascii_start().starts_with(b"{");
            let start = if in_line { here + value } else { (end + 1).min(bytes.len()) };
            let stop = if in_line { flow_end(bytes, start, end) } else { block_end(bytes, start, indent) };
            if start < stop && holds_values(&bytes[start..stop]) {
                return Some((start, stop));
            }
        }
        here = end + 1;
    }
    None
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    memchr::memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |i| from + i)
}

/// Whether the line ends the manifest before or after it: a document mark, or less indentation.
fn ends_manifest(line: &[u8], indent_bytes: usize) -> bool {
    let text = &line[number_bytes(line)..];
    text.starts_with(b"---") || !text.trim_ascii().is_empty() && indent(line) < indent_bytes
}

/// Whether the line is the first of an item of a list of manifests.
fn starts_item(line: &[u8], indent_bytes: usize) -> bool {
    let text = &line[number_bytes(line)..];
    indent_bytes >= 2 && indent(line) == indent_bytes && text[..indent_bytes].ends_with(b"- ")
}

/// Where the text after this key starts, if the line has it at this indentation; for other keys than
/// `kind` only a comment or an object in braces may follow.
fn key_value(line: &[u8], indent_bytes: usize, key: &[u8]) -> Option<usize> {
    if indent(line) != indent_bytes {
        return None;
    }
    let rest = line.get(number_bytes(line) + indent_bytes..)?;
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let rest = rest.strip_prefix(key)?;
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let rest = rest.strip_prefix(b":")?;
    let first = rest.trim_ascii().first();
    let opens = key == b"kind" || matches!(first, None | Some(b'#' | b'{'));
    opens.then(|| line.len() - rest.len())
}

/// Where an object in braces ends: on its line, or at its closing brace.
fn flow_end(bytes: &[u8], open: usize, line_end: usize) -> usize {
    let brace = open + bytes[open..line_end].iter().position(|b| *b == b'{').unwrap_or(0);
    closing_brace(bytes, brace, bytes.len()).map_or(line_end, |close| close + 1)
}

/// The length of a line number before the line, as tools print it: `  12→`, `12:`, a tab.
fn number_bytes(line: &[u8]) -> usize {
    let blanks = line.iter().take_while(|b| **b == b' ').count();
    let digits = line[blanks..].iter().take(7).take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 {
        return 0;
    }
    match &line[blanks + digits..] {
        [b'\t' | b':' | b'-' | b'|', ..] => blanks + digits + 1,
        [0xE2, 0x86, 0x92, ..] => blanks + digits + 3,
        _ => 0,
    }
}

/// Where the lines indented deeper than `indent_bytes` end.
fn block_end(bytes: &[u8], from: usize, indent_bytes: usize) -> usize {
    let (mut here, mut end) = (from, from);
    while here < bytes.len() {
        let stop = line_end(bytes, here);
        let line = &bytes[here..stop];
        if !line[number_bytes(line)..].trim_ascii().is_empty() {
            if line[number_bytes(line)..].starts_with(b"---") || indent(line) <= indent_bytes {
                break;
            }
            end = stop;
        }
        here = stop + 1;
    }
    end
}

/// The indentation of a line after its number. The dash of a list and the mark of a patch count as
/// blanks.
fn indent(line: &[u8]) -> usize {
    line[number_bytes(line)..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'-' | b'+')).count()
}

/// The values of the `data` object beside the `kind` at `at`.
fn json_data(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let object = opening_brace(bytes, 0, at)?;
    let object_end = closing_brace(bytes, object, bytes.len()).unwrap_or(bytes.len());
    for key in [b"data".as_slice(), b"stringData"] {
        let mut from = object;
        while let Some(found) = memchr::memmem::find(&bytes[from..object_end], key).map(|i| from + i) {
            from = found + key.len();
            let quoted = bytes[found - 1] == b'"';
            let joint = bytes[from..object_end].iter().take_while(|b| b" \t\r\n\":\\".contains(b)).count();
            let open = from + joint;
            if !quoted
                || joint == 0
                || bytes.get(open) != Some(&b'{')
                || opening_brace(bytes, 0, found) != Some(object)
            {
                continue;
            }
            let end = closing_brace(bytes, open, bytes.len()).unwrap_or(object_end);
            if holds_values(&bytes[open + 1..end]) {
                return Some((open + 1, end));
            }
        }
    }
    None
}
