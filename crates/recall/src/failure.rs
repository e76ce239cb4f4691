//! The same error seen before, and what came of it.

use claude_mem_distil::telling_error_lines;

/// Lines of the output that are asked about.
const LINES_MAX: usize = 3;

/// What of a failing command's output says which failure it is.
pub fn telling(output: &str) -> String {
    let mut lines = telling_error_lines(output);
    lines.truncate(LINES_MAX);
    lines.join("\n")
}
