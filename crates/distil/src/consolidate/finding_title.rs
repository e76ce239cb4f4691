//! Titles of findings and lessons: a sentence that stands alone, without the talk around it.

use crate::claim::{Claim, ClaimKind};
use crate::gates;
use crate::text::{capitalised, content_words};
use crate::verbs::has_verb;

use super::frames::ClaimFrame;
use super::title_form::is_order;
use super::title_form::is_title;
use super::title_label::sentence_title;
use super::title_score::{best, own_title_score};

/// A sentence that reads worse than this as a title leaves its finding to the account. A cause, and the answer to a
/// question, may read worse.
const FINDING_TITLE_SCORE_MIN: f32 = 0.6;

const ANSWER_TITLE_SCORE_MIN: f32 = 0.3;

/// The sentence that titles a finding: its best one that stands alone, a cause first.
pub(super) fn finding_sentence<'c>(frame: &ClaimFrame<'c>) -> Option<&'c Claim> {
    let reads_well = |claim: &Claim, least: f32| is_title(claim) && own_title_score(claim) >= least;
    let cause = |claim: &Claim| {
        claim.kind == ClaimKind::Cause && claim.worth >= 0.6 && reads_well(claim, ANSWER_TITLE_SCORE_MIN)
    };
    let answers = frame.request.contains(['?', '？']);
    let least = if answers { ANSWER_TITLE_SCORE_MIN } else { FINDING_TITLE_SCORE_MIN };
    best(frame, cause).or_else(|| best(frame, |claim: &Claim| reads_well(claim, least)))
}

/// The title of a finding that this sentence titles; `None` if it is talk.
pub(super) fn finding_title(sentence: &Claim) -> Option<String> {
    without_talk(&sentence_title(&sentence.text))
}

/// The title up to the clause that goes on with the conversation: "The mirror has no cursor, so let's ask the
/// server" → "The mirror has no cursor". `None` if nothing that stands alone is left.
fn without_talk(title: &str) -> Option<String> {
    let is_talk = |text: &str| {
        let lower = format!(" {} ", text.to_lowercase());
        TALKING.iter().any(|phrase| lower.contains(phrase))
    };
    if !is_talk(title) {
        return Some(title.to_owned());
    }
    let ends = [", ", " — ", " – ", "; "].iter().flat_map(|mark| title.match_indices(mark));
    let heads = ends.map(|(end, _)| &title[..end]).filter(|head| !is_talk(head));
    let head = heads.max_by_key(|head| head.len())?;
    let stands = gates::stands_alone(head)
        && has_verb(head)
        && gates::names_something(head)
        && gates::first_word(head) != "to";
    stands.then(|| head.to_owned())
}

/// The heading of a section of a memory file, if it states a lesson: "Partial indexes do not survive the export".
pub(super) fn lesson_title(heading: &str) -> Option<String> {
    let bare = match heading.split_once(": ") {
        Some((label, rest)) if label.split_whitespace().count() == 1 && !label.contains('`') => rest,
        _ => heading,
    };
    let asks = matches!(gates::first_word(bare).as_str(), "what" | "why" | "how" | "when" | "where");
    let states = content_words(bare).len() >= LESSON_WORDS_MIN && has_verb(bare) && !gates::is_dangling(bare);
    (states && !asks && !is_order(bare) && !bare.ends_with([':', '…', '?'])).then(|| capitalised(bare))
}

/// Words that mean something in the heading of a lesson.
const LESSON_WORDS_MIN: usize = 4;

/// Phrases of a sentence that goes on with a conversation, which the reader of a title did not follow.
#[rustfmt::skip]
const TALKING: &[&str] = &[
    " let's ", " is right ", " are right ", " was right ", " notice the ", " notice that ", " somewhat ", " odd one out ", " either way ",
    " doesn't hurt ", " in this session ", " not quite ", " that pattern ", " we need ", " is a single-line ", " reason: ", " a new `", " can now build ", " as mentioned ",
    " as noted ", " as discussed ", " same way ", " the above ", " the remaining ", " this time ", " for you ", " proposal: ", " these into ",
];
