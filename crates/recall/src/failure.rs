//! The same error seen before, and what came of it.

use std::borrow::Cow;

use super::error_signature::ErrorSignature;
use claude_mem_distil::{telling_error_lines, undecorated};

/// Lines of the output that are asked about.
const LINES_MAX: usize = 8;
/// Lines that are examined, from the end of the output.
const EXAMINED_MAX: usize = 200;
const LINE_CHARS_MAX: usize = 300;

/// Words of a line that says that something is wrong, or what.
#[rustfmt::skip]
const CUES: &[&str] = &[
    "error", "fail", "fatal", "cannot", "can't", "could not", "couldn't", "not found", "no such", "unable", "denied",
    "refused", "missing", "invalid", "exceed", "overflow", "reject", "exception", "unsupported", "undefined", "warning",
    "expected", "not available", "not authorized", "not allowed", "changed", "timed out", "no ", "immutable", "inconsistent",
];

/// What of a failing command's output says which failure it is: the lines that the distiller would quote, then
/// lines near them that say what was wrong. A tool often prints its verdict far from the cause.
pub fn telling(output: &str) -> String {
    let mut chosen: Vec<Cow<'_, str>> = telling_error_lines(output).into_iter().map(Cow::Owned).collect();
    let lines: Vec<&str> =
        output.lines().map(|line| undecorated(line).trim_end()).filter(|line| !line.is_empty()).collect();
    let examined = &lines[lines.len().saturating_sub(EXAMINED_MAX)..];
    for line in examined.iter().copied().filter(|line| is_verdict(line)) {
        if chosen.len() >= LINES_MAX {
            break;
        }
        if !chosen.iter().any(|known| known.contains(line) || line.contains(known.as_ref())) {
            chosen.push(Cow::Borrowed(line));
        }
    }
    chosen.join("\n")
}

fn is_verdict(line: &str) -> bool {
    let is_frame = ["at ", "File \"", "|"].iter().any(|start| line.starts_with(start));
    if is_frame || line.len() > LINE_CHARS_MAX {
        return false;
    }
    let lower = line.to_lowercase();
    CUES.iter().any(|cue| lower.contains(cue)) && ErrorSignature::from_line(line).is_some()
}
