//! The texts of both voices of a turn, and the thresholds that several files of this module share.

use claude_mem_core::clock::Millis;

use crate::speech::SpokenText;

/// A sentence of the user of at least this weight is a rule, once the agent has said something.
pub(super) const RULE_WEIGHT: f32 = 2.25;
/// An answer below this length is kept with its question.
pub(super) const SHORT_ANSWER_CHARS: usize = 120;

/// Both voices of a turn.
pub(crate) struct TurnTexts<'a> {
    pub said: &'a SpokenText,
    pub answered: &'a SpokenText,
    pub at: Millis,
    /// The files that were changed in the turn.
    pub files: &'a [String],
}
