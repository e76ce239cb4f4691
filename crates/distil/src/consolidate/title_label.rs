//! Labels in front of statements, and sentences as titles without them.

use crate::cues::Language;
use crate::gates;
use crate::line_numbers::without_line_numbers;
use crate::past_tense::past_of_gerund;
use crate::report;
use crate::text::capitalised;
use crate::titles::{headline, without_speaker};
use crate::verbs::has_verb;

/// "Error cases — invalid key, self-share": a label and its members.
pub(super) fn is_labelled(title: &str) -> bool {
    let parts = title.split_once(": ").or_else(|| title.split_once(" — "));
    parts.is_some_and(|(head, rest)| {
        // A colon inside code is part of the code.
        let is_code = !head.matches('`').count().is_multiple_of(2);
        !is_code && head.split_whitespace().count() <= 5 && !has_verb(head) && !has_verb(rest)
    })
}

/// "Migration: existing users keep their keys": a label and a statement.
pub(super) fn has_label(title: &str) -> bool {
    title.split_once(": ").is_some_and(|(head, _)| {
        head.split_whitespace().count() <= LABEL_WORDS_MAX && !head.contains('`') && !has_verb(head)
    })
}

const LABEL_WORDS_MAX: usize = 5;

/// The statement behind the label of a title, or the title if it has none. `None` if no statement begins behind it.
pub(super) fn behind_label(title: &str) -> Option<String> {
    let Some((_, rest)) = title.split_once(": ").filter(|_| has_label(title)) else {
        return Some(title.to_owned());
    };
    let opens = matches!(gates::first_word(rest).as_str(), "the" | "a" | "an" | "each" | "every")
        || rest.starts_with('`');
    (opens && gates::stands_alone(rest) && has_verb(rest)).then(|| capitalised(rest))
}

/// Labels in front of a cause.
#[rustfmt::skip]
const LABELS: &[&str] = &[
    "key rule: ", "key learning: ", "key learnings: ", "lesson: ", "rule: ",
    "root cause found: ", "cause found: ", "found the cause: ", "found it: ", "ursache: ", "causa: ", "cause : ",
    "root cause: ", "the root cause: ", "root cause — ", "cause: ", "fix: ", "fixed: ", "problem: ", "issue: ",
    "the issue: ", "the problem: ", "the fix: ", "note: ", "important: ", "result: ", "solution: ", "finding: ",
    "key insight: ", "key finding: ", "bottom line: ", "short answer: ", "tl;dr: ", "summary: ", "done: ",
    "the root cause is that ", "the root cause was that ", "the root cause is ", "the root cause was ", "turns out ", "it turns out ", "the real issue is ",
    "the actual issue is ", "the issue is that ", "the problem is that ", "the issue was that ",
    "the answer is: because ", "the answer is: ", "the answer: ", "the answer is that ", "the short answer: ",
    "the issue is clear from the docs: ", "the issue is clear: ", "the problem is clear: ", "in short: ",
    "the issue is ", "the problem is ", "the issue was ", "the problem was ", "the fix is to ", "the fix was to ",
    "the fix is simple: ", "the fix was simple: ", "the simplest fix: ",
];

/// The statement behind the labels of a cause: "Root cause: the cursor is stale" → "The cursor is stale".
pub(super) fn without_cause_label(text: &str) -> String {
    capitalised(behind_labels(text))
}

pub(super) fn behind_labels(text: &str) -> &str {
    let mut rest = text.trim();
    // "Bug 2 — The cursor is stale".
    if let Some((head, numbered)) = rest.split_once(" — ").or_else(|| rest.split_once(": "))
        && report::is_numbered(head)
        && numbered.split_whitespace().count() >= LABEL_WORDS_MAX
    {
        rest = numbered.trim_start();
    }
    for _ in 0..2 {
        let lower = rest.to_lowercase();
        match LABELS.iter().find(|label| lower.starts_with(**label)) {
            Some(label) => rest = rest.get(label.len()..).unwrap_or(rest).trim_start(),
            None => break,
        }
    }
    rest
}

/// "The fix was switching to the other reader" → "Switched to the other reader".
pub(super) fn as_done(sentence: &str) -> Option<String> {
    let doing = ["The fix was ", "The fix is "].iter().find_map(|label| sentence.strip_prefix(label))?;
    let (verb, rest) = doing.split_once(' ')?;
    Some(format!("{} {rest}", capitalised(&past_of_gerund(verb)?)))
}

/// A sentence as a title: the label off, cut at a clause.
pub(super) fn sentence_title(text: &str) -> String {
    let rest = behind_labels(text);
    let first = crate::sentences::split(rest).first().copied().unwrap_or(rest);
    // "We moved the table" says that it was moved.
    let bare = without_speaker(first);
    let first = if report::opens_with_work(bare) && !bare.contains(" now ") { bare } else { first };
    let done = as_done(first);
    let first = done.as_deref().unwrap_or(first);
    headline(&without_line_numbers(first), Language::detect(rest)).trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::sentence_title;

    #[test]
    fn repair_that_is_named_by_a_gerund_is_told_as_done() {
        for (said, title) in [
            ("The fix was switching to the other reader.", "Switched to the other reader"),
            ("The fix is making `Desk` print once.", "Made `Desk` print once"),
            ("The fix was applying the label last.", "Applied the label last"),
            ("The fix was a second reader.", "The fix was a second reader"),
        ] {
            assert_eq!(sentence_title(said), title);
        }
    }
}
