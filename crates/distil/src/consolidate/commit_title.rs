//! The title of a change that a commit, a pull request or a plan names.

use crate::claim::Claim;
use crate::gates;
use crate::sentences::TextDocument;
use crate::text::{capitalised, content_words, lower_first};
use crate::titles::shorten;

use super::title_form::TITLE_CHARS_MAX;
use super::title_label::{is_labelled, sentence_title};

/// The title of a commit, pull request or plan. One that says only that a review was answered is completed by the
/// first statement of its body.
pub(super) fn lead_title(lead: &Claim) -> String {
    let title = capitalised(&shorten(&lead.title, TITLE_CHARS_MAX));
    if is_clerical(&lead.title)
        && let Some(recorded) = recorded_statement(&lead.text)
    {
        return recorded;
    }
    if !is_vague(&lead.title) {
        return title;
    }
    let body = TextDocument::read(&lead.text);
    let first = body.sentences.iter().map(|sentence| sentence.text.trim_end_matches('.'));
    let mut first = first.filter(|text| content_words(text).len() >= 3 && !text.ends_with(':'));
    let completed = first.next().map(|first| format!("{title}: {}", lower_first(first)));
    completed.filter(|completed| completed.chars().count() <= COMPLETED_CHARS_MAX).unwrap_or(title)
}

/// Whether a subject names the act of writing something down, not what was written: "Add a learnings entry".
fn is_clerical(title: &str) -> bool {
    let lower = title.to_lowercase();
    let writes = ["add ", "update ", "document ", "record ", "capture ", "log ", "note "];
    let papers = ["learning", "insight", "lesson", "decision record", " adr", "gotcha", "memory"];
    writes.iter().any(|verb| lower.starts_with(verb)) && papers.iter().any(|paper| lower.contains(paper))
}

/// The first statement of a body that makes a title.
fn recorded_statement(body: &str) -> Option<String> {
    let document = TextDocument::read(body);
    let mut titles = document.sentences.iter().map(|sentence| sentence_title(&sentence.text));
    titles.find(|title| gates::stands_alone(title) && gates::has_verb(title) && !is_labelled(title))
}

/// Characters of a title that the first statement of its body completes. A longer one stays as it is.
const COMPLETED_CHARS_MAX: usize = TITLE_CHARS_MAX;

/// Words of subjects that name no part of the project.
#[rustfmt::skip]
const VAGUE_WORDS: &[&str] = &[
    "address", "addressed", "apply", "review", "reviews", "reviewer", "finding", "findings", "feedback", "comment", "comments",
    "remaining", "coderabbit", "copilot", "sonar", "sonarqube", "fix", "fixes", "fixed", "update", "updates", "updated", "change",
    "changes", "misc", "minor", "various", "small", "cleanup", "clean", "phase", "round", "more", "code", "issue", "issues", "some",
    "several", "final", "suggestions", "suggestion", "requested", "follow-up", "followup", "improvements", "pr", "bug", "bugs", "test",
    "tests", "lint", "security", "quality", "polish",
];

fn is_vague(title: &str) -> bool {
    let subject = title.split(" (").next().unwrap_or(title);
    let words = subject.split(|c: char| !(c.is_alphanumeric() || c == '-')).filter(|word| word.len() > 1);
    let mut told = words.map(str::to_lowercase).filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    told.all(|word| VAGUE_WORDS.contains(&word.as_str()) || content_words(&word).is_empty())
}
