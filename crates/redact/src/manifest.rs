//! Finds Kubernetes secrets: everything under `data` and `stringData`, whatever its name.

use super::rules::RuleId;

const KUBERNETES_SECRET: RuleId = RuleId::named("kubernetes-secret");
/// How far from its `kind` a manifest's data is searched.
const REACH_BYTES: usize = 4096;

/// The data of the manifest whose `kind` is at `at`; `length` is that of the word.
pub(super) fn secret_at(bytes: &[u8], at: usize, length: usize) -> Option<(usize, usize, RuleId)> {
    if !is_secret(&bytes[at + length..]) {
        return None;
    }
    let from = at.saturating_sub(REACH_BYTES);
    let until = bytes.len().min(at + REACH_BYTES);
    // A file may contain several manifests.
    let start = memchr::memmem::rfind(&bytes[from..at], b"\n---").map_or(from, |i| from + i);
    let end = memchr::memmem::find(&bytes[at..until], b"\n---").map_or(until, |i| at + i);
    memchr::memmem::find(&bytes[start..end], b"ata")?;
    let (start, end) = block(bytes, start, end)?;
    Some((start, end, KUBERNETES_SECRET))
}

/// Whether the kind is a secret: `: Secret`, `": "Secret"`.
fn is_secret(rest: &[u8]) -> bool {
    let joint = |b: &&u8| matches!(**b, b' ' | b':' | b'"' | b'\'' | b'\\');
    let skipped = rest.iter().take(12).take_while(joint).count();
    let value = &rest[skipped..];
    value.starts_with(b"Secret") && !value.get(6).is_some_and(u8::is_ascii_alphanumeric)
}

/// The block under the first `data` or `stringData` in `bytes[from..until]`.
fn block(bytes: &[u8], from: usize, until: usize) -> Option<(usize, usize)> {
    let mut here = from;
    while here < until {
        let line_end = bytes[here..until].iter().position(|b| *b == b'\n').map_or(until, |i| here + i);
        let line = &bytes[here..line_end];
        let indent = indent(line);
        match line.trim_ascii() {
            b"data:" | b"stringData:" => {
                let start = (line_end + 1).min(until);
                return Some((start, indented_block_end(bytes, start, until, indent))).filter(|(s, e)| s < e);
            }
            line if line.starts_with(b"\"data\": {") || line.starts_with(b"\"stringData\": {") => {
                let start = (line_end + 1).min(until);
                let end = bytes[start..until].iter().position(|b| *b == b'}')?;
                return Some((start, start + end)).filter(|(s, e)| s < e);
            }
            _ => {}
        }
        here = line_end + 1;
    }
    None
}

/// Where the lines indented deeper than `indent_bytes` end.
fn indented_block_end(bytes: &[u8], from: usize, until: usize, indent_bytes: usize) -> usize {
    let mut here = from;
    let mut end = from;
    while here < until {
        let line_end = bytes[here..until].iter().position(|b| *b == b'\n').map_or(until, |i| here + i);
        let line = &bytes[here..line_end];
        if !line.trim_ascii().is_empty() {
            if indent(line) <= indent_bytes {
                break;
            }
            end = line_end;
        }
        here = line_end + 1;
    }
    end
}

fn indent(line: &[u8]) -> usize {
    line.iter().take_while(|b| matches!(b, b' ' | b'\t')).count()
}
