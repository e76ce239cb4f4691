//! Finds quoted strings in any language, escaped or not.

/// Maximum length of a value; longer strings are prose.
pub(super) const VALUE_BYTES_MAX: usize = 1024;

/// A quotation mark with its backslashes: `"`, `\"`, `\\\"`, `&quot;`.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuoteMark {
    pub start: usize,
    pub end: usize,
}

/// The quotation mark at `at`.
pub(super) fn quote_at(bytes: &[u8], at: usize) -> Option<QuoteMark> {
    let rest = bytes.get(at..)?;
    if rest.starts_with(b"&quot;") {
        return Some(QuoteMark { start: at, end: at + 6 });
    }
    let slashes = rest.iter().take(8).take_while(|b| **b == b'\\').count();
    matches!(rest.get(slashes), Some(b'"' | b'\'' | b'`'))
        .then_some(QuoteMark { start: at, end: at + slashes + 1 })
}

/// The opening quotation mark at `at`, after its prefix (`r"`, `b'`, `f"`, `@"`); of a triple
/// quote, the last mark.
pub(super) fn opening_quote_at(bytes: &[u8], at: usize) -> Option<QuoteMark> {
    const PREFIX: &[u8] = b"rbfuRBFUL@$#";
    let prefix = bytes.get(at..)?.iter().take(3).take_while(|b| PREFIX.contains(b)).count();
    let first = quote_at(bytes, at + prefix)?;
    let mark = &bytes[first.start..first.end];
    let triple = mark.len() == 1 && bytes[first.end..].starts_with(&[mark[0], mark[0]]);
    Some(if triple { QuoteMark { start: first.start + 2, end: first.end + 2 } } else { first })
}

/// Where the string after `open` ends: at the same mark, at the end of the line or input, or at the
/// maximum length of a value.
pub(super) fn literal_end(bytes: &[u8], open: QuoteMark) -> usize {
    literal_end_within(bytes, open, VALUE_BYTES_MAX)
}

/// Like [`literal_end`], with another maximum length.
pub(super) fn literal_end_within(bytes: &[u8], open: QuoteMark, bytes_max: usize) -> usize {
    let mark = &bytes[open.start..open.end];
    let limit = bytes.len().min(open.end.saturating_add(bytes_max));
    let mut end = open.end;
    while end < limit {
        let rest = &bytes[end..];
        if rest.starts_with(mark) || (rest[0] == b'\n' && mark != b"`") {
            break;
        }
        // An escaped mark does not end the string.
        end += if mark.len() == 1 && rest[0] == b'\\' { 2 } else { 1 };
    }
    end.min(limit)
}
