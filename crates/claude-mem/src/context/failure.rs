//! The same error seen before, and what came of it.

use super::recall::Floor;
use crate::distil::telling_error_lines;

/// An error must be nearly the same one: half of what makes it special.
pub const FLOOR: Floor = Floor {
    share: 0.5,
    share_of_best: 0.8,
};
/// Lines of the output that are asked about.
const LINES_MAX: usize = 3;

/// What of a failing command's output says which failure it is.
pub fn telling(output: &str) -> String {
    let mut lines = telling_error_lines(output);
    lines.truncate(LINES_MAX);
    lines.join("\n")
}
