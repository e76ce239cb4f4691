//! Quotation marks and what stands between them, in any language, escaped or not.

/// Values longer than this are texts.
pub(super) const VALUE_BYTES_MAX: usize = 1024;

/// A quotation mark with the backslashes before it: `"`, `\"`, `\\\"`, `&quot;`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote {
    pub start: usize,
    pub end: usize,
}

/// The quotation mark at `at`.
pub(super) fn quote(bytes: &[u8], at: usize) -> Option<Quote> {
    let rest = bytes.get(at..)?;
    if rest.starts_with(b"&quot;") {
        return Some(Quote {
            start: at,
            end: at + 6,
        });
    }
    let slashes = rest.iter().take(8).take_while(|b| **b == b'\\').count();
    matches!(rest.get(slashes), Some(b'"' | b'\'' | b'`')).then_some(Quote {
        start: at,
        end: at + slashes + 1,
    })
}

/// The quotation mark at `at`, or behind the letters that belong to it: `r"`, `b'`, `f"`, `@"`,
/// or the first of three.
pub(super) fn opening(bytes: &[u8], at: usize) -> Option<Quote> {
    const PREFIX: &[u8] = b"rbfuRBFUL@$#";
    let prefix = bytes
        .get(at..)?
        .iter()
        .take(3)
        .take_while(|b| PREFIX.contains(b))
        .count();
    let first = quote(bytes, at + prefix)?;
    let mark = &bytes[first.start..first.end];
    let triple = mark.len() == 1 && bytes[first.end..].starts_with(&[mark[0], mark[0]]);
    Some(if triple {
        Quote {
            start: first.start + 2,
            end: first.end + 2,
        }
    } else {
        first
    })
}

/// Where the text that begins behind `open` ends: at the same mark, at the end of the line, at
/// the end of everything, or where it is too long to be a value.
pub(super) fn end(bytes: &[u8], open: Quote) -> usize {
    let mark = &bytes[open.start..open.end];
    let limit = bytes.len().min(open.end + VALUE_BYTES_MAX);
    let mut end = open.end;
    while end < limit {
        let rest = &bytes[end..];
        if rest.starts_with(mark) || (rest[0] == b'\n' && mark != b"`") {
            break;
        }
        // An escaped mark does not end the value.
        end += if mark.len() == 1 && rest[0] == b'\\' {
            2
        } else {
            1
        };
    }
    end.min(limit)
}
