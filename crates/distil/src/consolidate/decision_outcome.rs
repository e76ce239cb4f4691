//! What a decision led to: the plan or the commit that follows it and speaks of the same.

use std::collections::BTreeSet;

use claude_mem_core::memory::NewObservation;
use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind, EpisodeClaims};
use crate::limits::OBSERVATION_TITLE_CHARS_MAX;
use crate::past_tense::title_as_done;
use crate::text::{capitalised, content_words, overlap, shared};

use super::commit_title::lead_title;
use super::frames::ClaimFrame;

/// Words that a plan or commit shares with the decision that it follows from: more, if turns lie between them, unless
/// the decision is an answer to a question that prepared the work.
const SHARED_WORDS_MIN: usize = 2;
const FAR_SHARED_WORDS_MIN: usize = 4;
/// Turns after a decision in which it is carried out.
const NEAR_TURNS: u32 = 1;
const TURNS_MAX: u32 = 20;
/// A plan with a longer title stands in the subtitle.
const SUBJECT_CHARS_MAX: usize = 48;
/// A subject that shares this much with the title is named by it already.
const NAMED_OVERLAP: f32 = 0.6;

/// Names what the decision was about, by the plan that was made of it, or what it led to, by its commit.
pub(super) fn name_outcome(made: &mut NewObservation, frame: &ClaimFrame<'_>, episodes: &[&EpisodeClaims]) {
    let Some(outcome) = following_work(frame, episodes).or_else(|| pending_plan(frame, episodes)) else {
        return;
    };
    let title = outcome.title();
    if overlap(&content_words(&title), &content_words(&made.text.title)) >= NAMED_OVERLAP {
        return;
    }
    // What the user typed stays the title as it was said.
    let is_listed = is_answered(frame) && frame.leads.len() > 1 && made.text.title.contains("; ");
    match outcome {
        DecisionOutcome::Plan(_) if is_listed && title.chars().count() <= SUBJECT_CHARS_MAX => {
            made.text.title = titled_by_subject(&title, &made.text.title);
        }
        _ if !made.text.subtitle.is_empty() => {}
        DecisionOutcome::Plan(_) => made.text.subtitle = format!("For the plan “{title}”"),
        DecisionOutcome::Commit(_) => made.text.subtitle = format!("Led to: {title}"),
    }
}

/// What followed from a decision.
enum DecisionOutcome<'c> {
    /// The plan's title.
    Plan(&'c str),
    Commit(&'c Claim),
}

impl DecisionOutcome<'_> {
    fn title(&self) -> String {
        match self {
            Self::Plan(title) => capitalised(title.strip_prefix("Plan: ").unwrap_or(title)),
            Self::Commit(claim) => title_as_done(&lead_title(claim)),
        }
    }
}

/// The subject with as many of the listed choices as fit.
fn titled_by_subject(subject: &str, choices: &str) -> String {
    let mut title = subject.to_owned();
    for (place, choice) in choices.split("; ").enumerate() {
        let mark = if place == 0 { " — " } else { "; " };
        if title.chars().count() + choice.chars().count() + mark.chars().count()
            <= OBSERVATION_TITLE_CHARS_MAX
        {
            title.push_str(mark);
            title.push_str(choice);
        }
    }
    title
}

/// The plan or commit after the decision that shares most words with it. A plan tells more of what it is about.
fn following_work<'c>(frame: &ClaimFrame<'_>, episodes: &[&'c EpisodeClaims]) -> Option<DecisionOutcome<'c>> {
    let decided = frame.leads.iter().map(|lead| lead.at).max()?;
    let words: BTreeSet<String> =
        frame.leads.iter().flat_map(|lead| content_words(&format!("{} {}", lead.title, lead.text))).collect();
    let later = episodes.iter().filter(|later| (frame.turn..=frame.turn + TURNS_MAX).contains(&later.turn));
    let claims = later.flat_map(|later| later.claims.iter().map(|claim| (later.turn, claim)));
    let outcomes = claims
        .filter(|(_, claim)| claim.at > decided && matches!(claim.kind, ClaimKind::Plan | ClaimKind::Commit));
    let outcomes: Vec<(u32, &Claim)> = outcomes.collect();
    let scored = outcomes.iter().filter_map(|(turn, claim)| {
        let said = content_words(&format!("{} {}", claim.title, claim.text));
        let common = shared(&said, &words);
        // The only thing that came of a conversation needs no more words in common.
        let is_near = *turn <= frame.turn + NEAR_TURNS || is_answered(frame) || outcomes.len() == 1;
        let least = if is_near { SHARED_WORDS_MIN } else { FAR_SHARED_WORDS_MIN };
        (common >= least).then_some(((claim.kind == ClaimKind::Plan, common), *claim))
    });
    let ((is_plan, _), claim) = scored.max_by_key(|(score, _)| *score)?;
    Some(if is_plan { DecisionOutcome::Plan(&claim.title) } else { DecisionOutcome::Commit(claim) })
}

/// The plan that the turn of an answer ended with, though nobody has carried it out yet.
fn pending_plan<'c>(frame: &ClaimFrame<'_>, episodes: &[&'c EpisodeClaims]) -> Option<DecisionOutcome<'c>> {
    let turn = episodes.iter().find(|episode| episode.turn == frame.turn && is_answered(frame))?;
    turn.outcome.plan.as_ref().map(|plan| DecisionOutcome::Plan(&plan.title))
}

fn is_answered(frame: &ClaimFrame<'_>) -> bool {
    frame.leads.first().is_some_and(|lead| lead.source == TextSource::Answer)
}
