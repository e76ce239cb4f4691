//! How good a title a sentence makes: its worth, less what a reader stumbles over.

use crate::claim::Claim;
use crate::gates;

use super::frames::ClaimFrame;
use super::title_form::TITLE_CHARS_MAX;
use super::title_label::{has_label, is_labelled, sentence_title};

/// The fitting claim that makes the best title; the first of equals.
pub(super) fn best<'c>(frame: &ClaimFrame<'c>, fits: impl Fn(&Claim) -> bool) -> Option<&'c Claim> {
    let fitting = frame.details.iter().copied().filter(|claim| fits(claim));
    let scored = fitting.map(|claim| (own_title_score(claim), claim));
    let best = scored.fold(None, |best: Option<(f32, &'c Claim)>, next| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    });
    best.map(|(_, claim)| claim)
}

pub(super) fn own_title_score(claim: &Claim) -> f32 {
    title_score(claim, &sentence_title(&claim.text))
}

/// What a title loses by being one of several points.
pub(super) const LISTED_COST: f32 = 0.35;

/// How good a title the claim makes: its worth, less what a reader stumbles over.
pub(super) fn title_score(claim: &Claim, title: &str) -> f32 {
    let lower = format!(" {} ", title.to_lowercase());
    let first = gates::first_word(title);
    let chars = title.chars().count();
    let costs = [
        // "While that's safe, …": the statement comes late, or was cut off.
        (gates::opens_subordinate(title), 0.3),
        (title.starts_with('('), 0.3),
        (gates::speaks_to_reader(title), 0.4),
        (gates::is_mid_argument(title), 0.4),
        // A point of a list says one of several things.
        (claim.place.listed, LISTED_COST),
        ([" would ", " could ", " might "].iter().any(|word| lower.contains(word)), 0.15),
        (POINTING.iter().any(|word| lower.contains(word)), 0.15),
        // "These records" of an earlier sentence.
        ([" these ", " those ", " that one "].iter().any(|word| lower.contains(word)), 0.2),
        (SEQUENCE.contains(&first.as_str()), 0.2),
        (chars < 35, 0.1),
        (chars > TITLE_CHARS_MAX || title.ends_with('…'), 0.1),
        (!gates::names_something(title), 0.1),
        (is_labelled(title), 0.2),
        (has_label(title), 0.15),
        (lower.starts_with(" the fix ") || lower.starts_with(" the failure"), 0.3),
    ];
    let cost: f32 = costs.iter().filter(|(holds, _)| *holds).map(|(_, cost)| cost).sum();
    let clear = STANDS_ALONE_WEIGHT * (claim.alone - STANDS_ALONE_MEAN);
    // The first sentence of a report says what the rest is about.
    let lead = if claim.place.index == 0 && !claim.place.listed { LEAD_BONUS } else { 0.0 };
    claim.worth + lead + clear - cost
}

/// What a title gains by being understood without its neighbours, and how likely a usual claim is so.
const STANDS_ALONE_WEIGHT: f32 = 0.4;

const STANDS_ALONE_MEAN: f32 = 0.6;

/// What a title gains by being the first sentence of its text.
const LEAD_BONUS: f32 = 0.25;

/// Words that point at something outside the title.
#[rustfmt::skip]
pub(super) const POINTING: &[&str] = &[
    " this ", " that's ", " these ", " those ", " above ", " below ", " here ", " our ", " my ", " the same ",
    " earlier ", " just ", " the first two", " the first three", " the last two", " both of them",
];

/// First words of a step in a sequence.
const SEQUENCE: &[&str] = &["step", "first", "second", "third", "finally", "next", "now", "after", "before"];
