//! Lines and headings that say what the points below them are.

use std::collections::BTreeSet;

use crate::claim::Claim;
use crate::gates;
use crate::sentences;
use crate::text::{capitalised, content_words, overlap, without_bold};

/// A line introduces a list if it has so many words that mean something, and no more characters.
const INTRO_WORDS_MIN: usize = 2;
const INTRO_CHARS_MAX: usize = 90;
/// A line that shares this much with the title says the same.
const SAME_INTRO: f32 = 0.8;
/// Words of a line that says what the points of its list are, if it is a title.
const LIST_TITLE_WORDS_MIN: usize = 3;

/// The line that introduces a list, without its colon and what stands before it.
pub(super) fn bare_intro(intro: &str) -> String {
    let intro = intro.trim_end_matches([':', '：']).trim();
    without_bold(sentences::split(intro).last().copied().unwrap_or_default())
}

/// The line that introduces a list as the title of a finding that the list tells.
pub(super) fn list_title(intro: &str) -> Option<String> {
    let intro = bare_intro(intro);
    let telling = telling_words(&intro) >= LIST_TITLE_WORDS_MIN;
    (telling && introduces(&intro, &BTreeSet::new()) && !gates::has_unbound_pronoun(&intro))
        .then(|| capitalised(&intro))
}

/// The share of a subject's words that title and narrative may tell already.
const SUBJECT_OVERLAP: f32 = 0.6;

/// The heading of the text that a statement comes from, if it says what the statement is about and the title does not.
pub(super) fn subject_of(claim: &Claim, title: &str) -> Option<String> {
    let heading = without_bold(&claim.topic);
    let is_subject = !heading.ends_with([':', '：', '?', '？'])
        && telling_words(&heading) >= LIST_TITLE_WORDS_MIN
        && !heading.starts_with(|c: char| c.is_ascii_digit())
        && !["what", "why", "how"].contains(&gates::first_word(&heading).as_str())
        && introduces(&heading, &BTreeSet::new())
        && overlap(&content_words(&heading), &content_words(title)) < SUBJECT_OVERLAP;
    is_subject.then_some(heading)
}

/// Words of lines that introduce a list without saying of what.
#[rustfmt::skip]
const VAGUE_INTRO_WORDS: &[&str] = &[
    "thing", "note", "noting", "worth", "consideration", "summary", "change", "chang", "key", "decision", "answer", "finding",
    "detail", "point", "two", "three", "four", "several", "made", "make", "done", "result", "follow", "additional", "update",
    "specifically", "overview", "file", "created", "creat", "modified", "modifi", "test", "fix", "issue", "step", "need", "configure",
];

/// The number of words of a line that say what its list is about.
fn telling_words(intro: &str) -> usize {
    content_words(intro).iter().filter(|word| !VAGUE_INTRO_WORDS.contains(&word.as_str())).count()
}

/// Whether a line says what the items of its list are.
pub(super) fn introduces(intro: &str, title: &BTreeSet<String>) -> bool {
    let words = content_words(intro);
    telling_words(intro) >= INTRO_WORDS_MIN
        && intro.chars().count() <= INTRO_CHARS_MAX
        && !gates::is_dangling(intro)
        && !gates::is_commentary(intro)
        && !intro.contains(" I ")
        && !["two", "three", "four", "five", "several", "a", "some"]
            .contains(&gates::first_word(intro).as_str())
        && !gates::speaks_to_reader(intro)
        && overlap(&words, title) < SAME_INTRO
}
