//! The same error seen before, and what came of it.

use super::recall::{self, Ask, Floor, Recalled};
use crate::distil::telling_error_lines;
use crate::search::VectorLeg;
use crate::store::{Reads, StoreError};

/// An error must be nearly the same one: half of what makes it special.
pub const FLOOR: Floor = Floor {
    share: 0.5,
    share_of_best: 0.8,
};
/// Lines of the output that are asked about.
const LINES_MAX: usize = 3;

/// What a failing command's output brings to mind. `ask.prompt` is that output, redacted.
pub fn failure(
    reads: &Reads<'_>,
    ask: &Ask<'_>,
    leg: Option<&mut VectorLeg<'_>>,
) -> Result<Recalled, StoreError> {
    let mut lines = telling_error_lines(ask.prompt);
    lines.truncate(LINES_MAX);
    let error = lines.join("\n");
    recall::prompt(
        reads,
        &Ask {
            prompt: &error,
            floor: FLOOR,
            ..*ask
        },
        leg,
    )
}
