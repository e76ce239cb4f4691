//! The compressor that needs no model.
//!
//! In: one `Episode`, what its session carries, the vocabulary. Out: the observations that are
//! worth keeping and, when the turn is finished, its summary.
//!
//! Invariant: the same input gives the same memories. Absent on purpose: I/O, clocks, models.

mod carry;
mod cues;
mod decisions;
mod draft;
mod sentences;
mod speech;
mod text;
mod titles;

pub use carry::Carry;

use self::speech::Speech;
use crate::episode::Episode;
use crate::memory::Distilled;
use crate::vocabulary::Vocabulary;

/// Makes memories of one episode.
pub fn distil(episode: &Episode, carry: &mut Carry, vocabulary: &Vocabulary) -> Distilled {
    let prompt = episode.prompt.as_ref().map_or("", |p| p.text.as_str());
    let last = episode
        .final_message
        .as_ref()
        .map_or("", |m| m.text.as_str());
    let said = Speech::read(prompt);
    let answered = Speech::read(last);
    let at = episode
        .final_message
        .as_ref()
        .map(|m| m.at)
        .or(episode.prompt.as_ref().map(|p| p.at))
        .unwrap_or_default();
    let turn = decisions::Turn {
        said: &said,
        answered: &answered,
        at,
    };
    if carry.first_request.is_empty() {
        carry.subject = [&said, &answered]
            .into_iter()
            .flat_map(|s| s.own())
            .find_map(|s| text::subject(&s.text))
            .unwrap_or_default();
    }
    let made = decisions::decide(&turn, carry);
    if !said.is_bare() {
        carry.remember_request(prompt);
    }
    carry.last_words.spoke = !answered.statements.is_empty();
    carry.last_words.question = answered
        .own()
        .filter(|s| s.question)
        .map(|s| s.text.clone())
        .last()
        .unwrap_or_default();
    carry.last_words.proposal = answered
        .own()
        .filter(|s| s.marks.has(cues::Cue::Propose) && !s.question)
        .map(|s| s.text.clone())
        .next()
        .unwrap_or_default();
    carry.last_words.settled = made
        .first()
        .map(|m| m.narrative.clone())
        .unwrap_or_default();
    let mut out = Distilled::default();
    for m in made {
        if carry.is_told(&m.title) {
            continue;
        }
        out.observations.extend(draft::finish(m, vocabulary));
    }
    out
}
