//! Titles of sentences that are too long for one: without what stands in brackets, and without a last clause that adds
//! to a statement. They serve a change or finding that no shorter sentence titles.

use crate::claim::{Claim, ClaimKind};
use crate::cues::Language;
use crate::gates;
use crate::limits::OBSERVATION_TITLE_CHARS_MAX;
use crate::text::{capitalised, new_words};
use crate::titles::{balanced, headline, without_brackets, without_lead_in};
use crate::turn_outcome::is_prose_file;
use crate::verbs::has_verb;

use super::frames::{ClaimFrame, FrameKind};
use super::list_intro;
use super::title_form;
use super::title_label;
use super::title_score;

/// A cause must be this likely to be worth remembering to title a row, any other sentence must read this well.
const CAUSE_WORTH_MIN: f32 = 0.6;
const TITLE_SCORE_MIN: f32 = 0.5;

/// Words that the sentence of a change must say beyond its title, if it is no cause.
const CHANGE_NEW_WORDS_MIN: usize = 6;

/// The title of a frame, with the claim that it is made of: a cause first. Where a note was put is no change.
pub(super) fn abridged_title<'c>(frame: &ClaimFrame<'c>) -> Option<(&'c Claim, String)> {
    let is_work = frame.kind == FrameKind::Work;
    let files_note =
        |title: &str| frame.files.iter().any(|file| is_prose_file(file) && title.contains(file.as_str()));
    let fits = |claim: &Claim, title: &str| {
        let is_cause = claim.kind == ClaimKind::Cause;
        let tells_more = !is_work || is_cause || new_words(title, &claim.text) >= CHANGE_NEW_WORDS_MIN;
        tells_more && !(is_work && claim.place.listed) && !files_note(title)
    };
    let titled = frame.details.iter().copied().filter_map(|claim| {
        let title = if claim.place.listed { list_title(claim) } else { sentence_title(claim) };
        Some((claim, title.filter(|title| fits(claim, title))?))
    });
    let titled: Vec<(&'c Claim, String)> = titled.collect();
    let score = |(claim, title): &(&'c Claim, String)| {
        // The line above a list speaks for all its points.
        let listed = if claim.place.listed { title_score::LISTED_COST } else { 0.0 };
        title_score::title_score(claim, title) + listed
    };
    let is_cause =
        |(claim, _): &&(&'c Claim, String)| claim.kind == ClaimKind::Cause && claim.worth >= CAUSE_WORTH_MIN;
    let best = |fits: &dyn Fn(&&(&'c Claim, String)) -> bool| {
        titled.iter().filter(fits).max_by(|a, b| score(a).total_cmp(&score(b))).cloned()
    };
    best(&is_cause).or_else(|| best(&|titled| score(titled) >= TITLE_SCORE_MIN))
}

/// What the line that introduces a list states of its points: a point is one of several things.
fn list_title(claim: &Claim) -> Option<String> {
    let intro = list_intro::list_title(&claim.section)?;
    let title = title_label::without_cause_label(&intro);
    let fits = title.chars().count() <= OBSERVATION_TITLE_CHARS_MAX;
    let bare = without_brackets(&title);
    (fits && gates::stands_alone(&bare) && has_verb(&bare)).then_some(title)
}

fn sentence_title(claim: &Claim) -> Option<String> {
    let sentence = title_label::behind_labels(&claim.text);
    let first = crate::sentences::split(sentence).first().copied()?;
    let done = title_label::as_done(first);
    let first = done.as_deref().unwrap_or(first);
    let behind = behind_opening(first);
    let title = match behind {
        Some(rest) if rest.chars().count() <= OBSERVATION_TITLE_CHARS_MAX => {
            headline(rest, Language::detect(rest))
        }
        _ => abridge(behind.unwrap_or(first))?,
    };
    let says = !gates::opens_with_step(&title)
        && title_form::makes_title(claim, behind.or(done.as_deref()).unwrap_or(&claim.text), &title);
    says.then_some(title)
}

/// What the agent did to find something out.
const LOOKING: &[&str] = &[
    "reviewing",
    "reading",
    "checking",
    "looking",
    "inspecting",
    "searching",
    "analyzing",
    "analysing",
    "tracing",
    "verifying",
    "comparing",
    "examining",
];

/// The statement behind an opening that only leads to it: "After reading the log, the queue …", "It's a race — the
/// queue …". "After restarting the server, …" is a condition.
fn behind_opening(sentence: &str) -> Option<&str> {
    let looks = sentence
        .strip_prefix("After ")
        .is_some_and(|rest| LOOKING.contains(&gates::first_word(rest).as_str()));
    let rest = if looks {
        sentence.split_once(", ").map(|(_, rest)| rest)
    } else if matches!(gates::first_word(sentence).as_str(), "it's" | "it" | "this" | "that's") {
        sentence.split_once(" — ").or_else(|| sentence.split_once(" – ")).map(|(_, rest)| rest)
    } else {
        None
    };
    rest.filter(|rest| gates::names_something(rest) && has_verb(rest))
}

/// First words of a bracket without which a statement claims too much.
const RESTRICTING: &[&str] =
    &["only", "if", "when", "unless", "except", "not", "without", "until", "but", "no", "never", "unlike"];

/// A headline of a sentence that is too long for one. `None` if it stays too long.
fn abridge(sentence: &str) -> Option<String> {
    let language = Language::detect(sentence);
    let whole = without_lead_in(sentence, language).trim_end_matches('.');
    let mut brackets = whole.split(" (").skip(1);
    let restricts = brackets.any(|inside| RESTRICTING.contains(&gates::first_word(inside).as_str()));
    let bare = without_brackets(whole);
    let bare = if balanced(&bare) && !restricts { bare.as_str() } else { whole };
    let made = headline(bare, language);
    if !made.ends_with('…') {
        return (bare.len() < whole.len()).then_some(made);
    }
    let end = bare.char_indices().nth(OBSERVATION_TITLE_CHARS_MAX).map_or(bare.len(), |(at, _)| at);
    without_tail(&bare[..end]).map(|made| capitalised(&made))
}

/// Clauses about a thing that the words before them name: "the `cursor` field" | "that was …". Without them "every file
/// that is empty" would claim too much.
const RELATIVE: &[&str] =
    &[" which ", " that was ", " that were ", " that is ", " that are ", " that has ", " that have "];
/// Words before such a clause among which the name must stand.
const NAMED_WORDS: usize = 3;

/// Verbs of having and making: a participle behind their object describes it, instead of choosing among several.
#[rustfmt::skip]
const HAVING: &[&str] = &[
    "has", "have", "had", "gets", "got", "adds", "added", "creates", "created", "contains", "includes", "wrote", "built",
];
const DETERMINERS: &[&str] =
    &["the", "a", "an", "its", "each", "every", "all", "any", "both", "their", "this", "these"];
/// Words before "-ing" that it belongs to: "by telling", "the missing file".
#[rustfmt::skip]
const BEFORE_PARTICIPLES: &[&str] = &[
    "is", "are", "was", "were", "be", "been", "being", "by", "for", "of", "without", "from", "in", "on", "with", "and", "or", "not",
    "to", "at", "before", "after", "when", "while", "the", "a", "an", "this", "that", "its", "about", "than", "as", "like", "avoid",
    "stop", "start", "keep", "instead", "into", "still", "already",
];

/// The share of the room that the statement must fill without its last clause.
const TAIL_KEPT: f32 = 0.4;

/// The statement before the last clause that adds to it: "Each file gets a section" | "telling the reader …". A
/// condition adds nothing.
fn without_tail(head: &str) -> Option<String> {
    let names = |cut: &usize| head[..*cut].split(' ').rev().take(NAMED_WORDS).any(|word| word.contains('`'));
    let relative = RELATIVE.iter().filter_map(|tail| head.rfind(tail)).filter(names);
    let denies = head.contains("n't ") || head.contains(" not ");
    let reason = head.rfind(" because ").filter(|_| !denies);
    let places =
        head.split(' ').scan(0, |at, word| Some((std::mem::replace(at, *at + word.len() + 1), word)));
    let words: Vec<(usize, &str)> = places.collect();
    let has = words.iter().any(|(_, word)| HAVING.contains(word));
    let participles = words.windows(3).filter(|_| has).filter_map(|run| {
        let [(_, before), (at, word), (_, after)] = run else {
            return None;
        };
        let is_participle =
            word.len() > 5 && word.ends_with("ing") && word.chars().all(|c| c.is_ascii_lowercase());
        let has_object = after.starts_with('`') || DETERMINERS.contains(after);
        (is_participle && has_object && !BEFORE_PARTICIPLES.contains(before)).then(|| at.saturating_sub(1))
    });
    let least = (TAIL_KEPT * OBSERVATION_TITLE_CHARS_MAX as f32) as usize;
    let states = |cut: &usize| *cut >= least && balanced(&head[..*cut]) && has_verb(&head[..*cut]);
    let cut = relative.chain(reason).chain(participles).filter(states).max()?;
    Some(head[..cut].trim_end_matches([',', ' ']).to_owned())
}

#[cfg(test)]
#[path = "abridged_titles_tests.rs"]
mod tests;
