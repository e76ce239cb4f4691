//! One subject of a prompt, from which a decision is composed.

use super::reply::ReplyKind;
use super::restated::RestatedRule;
use super::turn::TurnTexts;
use crate::carry::Carry;
use crate::speech::MarkedSentence;

/// One subject of a prompt with everything that was said about it.
pub(super) struct SettledSubject<'a> {
    pub turn: &'a TurnTexts<'a>,
    pub topic: &'a [&'a MarkedSentence],
    pub reply: ReplyKind,
    pub restated: &'a [RestatedRule<'a>],
    pub carry: &'a Carry,
}
