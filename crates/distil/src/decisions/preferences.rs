//! How the user wants work to be done, whatever the task: "always run the formatter".

use crate::cues::CueKind;
use crate::speech::MarkedSentence;

/// Whether a sentence states a preference: general, about working rather than about the product,
/// and addressed to whoever does the work.
pub(crate) fn is_preference(statement: &MarkedSentence) -> bool {
    let marks = &statement.marks;
    let addressed = marks.has(CueKind::Personal)
        || marks.opens(CueKind::General)
        || marks.opens(CueKind::Request)
        || marks.opens(CueKind::Choice)
        || marks.opens(CueKind::Rule);
    marks.has(CueKind::General) && marks.has(CueKind::Working) && addressed && !statement.question
}
