//! Finds Kubernetes secrets: everything under `data` and `stringData`, whatever its name.
//!
//! The manifest is a block by its structure, however long: in YAML the lines around `kind` that are
//! indented like it, in JSON the object around it.

use super::rules::RuleId;

const KUBERNETES_SECRET: RuleId = RuleId::named("kubernetes-secret");

/// The data of the manifest whose `kind` is at `at`; `length` is that of the word.
pub(super) fn secret_at(bytes: &[u8], at: usize, length: usize) -> Option<(usize, usize, RuleId)> {
    if !is_secret(&bytes[at + length..]) {
        return None;
    }
    let in_json = matches!(bytes[..at].last(), Some(b'"'));
    let (start, end) = if in_json { json_data(bytes, at)? } else { yaml_data(bytes, at)? };
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
    let indent = at - own_start;
    let mut here = own_start;
    // Back to the first line of the manifest.
    while here > 0 {
        let before = line_start(here - 1);
        let line = &bytes[before..here - 1];
        if ends_manifest(line, indent) || is_key(line, indent, b"kind:") {
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
        if is_key(line, indent, b"data:") || is_key(line, indent, b"stringData:") {
            let start = (end + 1).min(bytes.len());
            let stop = block_end(bytes, start, indent);
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
    line.starts_with(b"---") || !line.trim_ascii().is_empty() && indent(line) < indent_bytes
}

/// Whether the line is the first of an item of a list of manifests.
fn starts_item(line: &[u8], indent_bytes: usize) -> bool {
    indent_bytes >= 2 && indent(line) == indent_bytes && line[..indent_bytes].ends_with(b"- ")
}

/// Whether the line is this key and nothing else, at this indentation.
fn is_key(line: &[u8], indent_bytes: usize, key: &[u8]) -> bool {
    indent(line) == indent_bytes
        && line[indent_bytes..].trim_ascii_end().starts_with(key)
        && (key == b"kind:" || line[indent_bytes..].trim_ascii_end().len() == key.len())
}

/// Where the lines indented deeper than `indent_bytes` end.
fn block_end(bytes: &[u8], from: usize, indent_bytes: usize) -> usize {
    let (mut here, mut end) = (from, from);
    while here < bytes.len() {
        let stop = line_end(bytes, here);
        let line = &bytes[here..stop];
        if !line.trim_ascii().is_empty() {
            if line.starts_with(b"---") || indent(line) <= indent_bytes {
                break;
            }
            end = stop;
        }
        here = stop + 1;
    }
    end
}

/// The indentation of a line. The dash of a list, a line number and the mark of a patch count as
/// blanks.
fn indent(line: &[u8]) -> usize {
    line.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'-' | b'+')).count()
}

/// The values of the `data` object beside the `kind` at `at`.
fn json_data(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let object = object_start(bytes, at)?;
    let object_end = object_end(bytes, object).unwrap_or(bytes.len());
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
                || object_start(bytes, found) != Some(object)
            {
                continue;
            }
            let end = self::object_end(bytes, open).unwrap_or(object_end);
            if holds_values(&bytes[open + 1..end]) {
                return Some((open + 1, end));
            }
        }
    }
    None
}

/// The opening brace of the object around `at`.
fn object_start(bytes: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0_u32;
    for i in (0..at).rev() {
        match bytes[i] {
            b'}' => depth += 1,
            b'{' if depth == 0 => return Some(i),
            b'{' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The closing brace of the object that opens at `open`.
fn object_end(bytes: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0_u32;
    for (i, b) in bytes.iter().enumerate().skip(open) {
        match b {
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(i),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}
