//! How the user wants work to be done, whatever the task: "always run the formatter".

use crate::cues::Cue;
use crate::speech::Statement;

/// Whether a sentence states a preference: general, about working rather than about the product,
/// and addressed to whoever does the work.
pub(crate) fn is_preference(statement: &Statement) -> bool {
    let marks = &statement.marks;
    let addressed = marks.has(Cue::Personal)
        || marks.opens(Cue::General)
        || marks.opens(Cue::Request)
        || marks.opens(Cue::Choice)
        || marks.opens(Cue::Rule);
    marks.has(Cue::General) && marks.has(Cue::Working) && addressed && !statement.question
}
