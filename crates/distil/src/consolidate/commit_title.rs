//! The title of a change that a commit, a pull request or a plan names.

use crate::claim::Claim;
use crate::gates;
use crate::sentences::TextDocument;
use crate::text::{capitalised, content_words, lower_first};
use crate::titles::{shorten, without_brackets};
use crate::verbs::has_verb;

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
    let first = body.sentences.iter().map(|sentence| without_code(sentence.text.trim_end_matches('.')));
    let mut first =
        first.filter(|text| content_words(text).len() >= STATEMENT_WORDS_MIN && !text.ends_with(':'));
    let bare = without_codes(&title);
    first.next().and_then(|first| completed(&bare, first)).unwrap_or(title)
}

/// Words of a body's statement that mean something.
const STATEMENT_WORDS_MIN: usize = 3;

/// A subject with the first statement of its body, without details if it is too long with them. `None` if it does not
/// fit even so.
fn completed(title: &str, statement: &str) -> Option<String> {
    let room = TITLE_CHARS_MAX.checked_sub(title.chars().count() + 2)?;
    let bare = without_brackets(statement);
    let short = shorten(if statement.chars().count() <= room { statement } else { &bare }, room);
    let core =
        PURPOSES.iter().filter_map(|purpose| bare.split_once(purpose)).map(|(core, _)| core.to_owned());
    let mut forms = std::iter::once(short).chain(core);
    let says = |form: &String| {
        content_words(form).len() >= STATEMENT_WORDS_MIN
            && !form.ends_with('…')
            && form.chars().count() <= room
    };
    forms.find(says).map(|form| format!("{title}: {}", lower_first(&form)))
}

/// What goes on to say what a change is for.
const PURPOSES: &[&str] =
    &[" to prevent ", " to avoid ", " to ensure ", " so that ", " with ", " instead of ", " for "];

/// "H-01: Close the list": a point without its number.
fn without_code(point: &str) -> &str {
    point.split_once(": ").filter(|(label, _)| is_code(label)).map_or(point, |(_, rest)| rest)
}

/// A title without a bracket that lists numbers of findings: "Fix findings (H-01, M-02)".
fn without_codes(title: &str) -> String {
    let Some((before, inside)) = title.split_once(" (") else {
        return title.to_owned();
    };
    match inside.split_once(')') {
        Some((codes, after)) if codes.split(',').all(|code| is_code(code.trim())) => {
            format!("{before}{after}")
        }
        _ => title.to_owned(),
    }
}

/// "H-01", "M4": the number of a finding.
fn is_code(label: &str) -> bool {
    label.starts_with(|c: char| c.is_ascii_uppercase())
        && label.ends_with(|c: char| c.is_ascii_digit())
        && label.len() <= CODE_CHARS_MAX
        && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

const CODE_CHARS_MAX: usize = 8;

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
    titles.find(|title| gates::stands_alone(title) && has_verb(title) && !is_labelled(title))
}

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

#[cfg(test)]
mod tests {
    use super::{completed, without_code, without_codes};

    #[test]
    fn subject_that_names_nothing_is_completed_by_the_first_point() {
        for (subject, point, title) in [
            (
                "Address review — 7 findings (phase 3)",
                "Fix the parcel download broken for shared depots (listDepots guards on null in the overview)",
                Some(
                    "Address review — 7 findings (phase 3): fix the parcel download broken for shared depots",
                ),
            ),
            (
                "Address 2 findings (H-01, M-02) (api)",
                "H-01: Wrap the booking in one transaction",
                Some("Address 2 findings (api): wrap the booking in one transaction"),
            ),
            (
                "Address 9 findings of the second security review (H-01, M-02) (api,desk)",
                "H-01: Wrap the booking in one transaction with a lock on the row to prevent that two tills redeem it",
                Some(
                    "Address 9 findings of the second security review (api,desk): wrap the booking in one transaction \
                     with a lock on the row",
                ),
            ),
            ("Address feedback", "Keep", None),
        ] {
            let told = completed(&without_codes(subject), without_code(point));
            assert_eq!(told.as_deref(), title);
        }
    }
}
