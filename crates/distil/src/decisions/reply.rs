//! The relation of a prompt to the agent's previous message.

use crate::carry::LastWords;
use crate::cues::CueKind;
use crate::speech::SpokenText;

/// Maximum words of a bare confirmation.
const CONFIRMING_WORDS: usize = 7;

/// The relation of a prompt to the agent's previous message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyKind {
    /// The agent had said nothing that this could be about.
    Opens,
    Continues,
    /// "Right. And …": it agrees and goes on.
    Extends,
    /// "No, …": what the agent meant to do was wrong.
    Corrects,
    /// It answers the agent's question.
    Answers,
    /// "Right.": nothing new.
    Confirms,
}

impl ReplyKind {
    pub(super) fn read(said: &SpokenText, last: &LastWords) -> Self {
        let Some(first) = said.own().next() else {
            return Self::Confirms;
        };
        if said.is_bare() || confirms(said, last) {
            return Self::Confirms;
        }
        if !last.spoke {
            return Self::Opens;
        }
        if !last.question.is_empty() && !first.question {
            return Self::Answers;
        }
        if said.own().take(2).any(|s| s.marks.opens(CueKind::Disagree)) {
            return Self::Corrects;
        }
        if first.marks.opens(CueKind::Agree) {
            return Self::Extends;
        }
        Self::Continues
    }

    /// What such a reply adds to the weight of its sentences: an answer and a correction bind
    /// without saying "must".
    pub(super) const fn bonus(self) -> f32 {
        match self {
            Self::Corrects | Self::Answers => 1.5,
            Self::Extends => 1.0,
            Self::Opens | Self::Continues | Self::Confirms => 0.0,
        }
    }
}

/// "Right, leave it at 7", when seven is what the agent had just said.
fn confirms(said: &SpokenText, last: &LastWords) -> bool {
    let agrees = said.own().next().is_some_and(|first| first.marks.opens(CueKind::Agree));
    let words: Vec<&String> = said.own().flat_map(|s| &s.words).collect();
    let known = last.settled.to_lowercase();
    let news = words.iter().filter(|word| !known.contains(word.as_str())).count();
    let concrete = said.own().any(|s| s.values > 0);
    agrees && words.len() <= CONFIRMING_WORDS && (!concrete || news <= 1)
}
