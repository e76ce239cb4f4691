//! Preferences: rules about the way of working in every task, such as "always run the formatter".

use crate::cues::CueKind;
use crate::speech::MarkedSentence;

/// Whether a sentence states a preference: general, about the work rather than the product, and addressed to
/// the agent.
pub(crate) fn is_preference(statement: &MarkedSentence) -> bool {
    let marks = &statement.marks;
    let addressed = marks.has(CueKind::Personal)
        || marks.opens(CueKind::General)
        || marks.opens(CueKind::Request)
        || marks.opens(CueKind::Choice)
        || marks.opens(CueKind::Rule);
    marks.has(CueKind::General) && marks.has(CueKind::Working) && addressed && !statement.question
}
