//! Lines of an account: whole sentences that stand alone.

use crate::gates;
use crate::sentences;
use crate::text::full_stop;
use crate::titles::shorten_to;
use crate::verbs::has_verb;

/// Maximum characters of a line.
pub(super) const LINE_CHARS_MAX: usize = 300;

/// The text as a line: whole if it fits, else its first sentences, else its first clauses. `None` if what fits would
/// be torn out of its sentence.
pub(super) fn whole_line(text: &str, chars_max: usize) -> Option<String> {
    let text = text.trim();
    if text.ends_with('…') {
        return None;
    }
    if text.chars().count() <= chars_max {
        return Some(full_stop(text));
    }
    let fitting = sentences::join_fitting(sentences::split(text).into_iter(), chars_max);
    if !fitting.is_empty() {
        return Some(full_stop(&fitting));
    }
    let cut = shorten_to(text, chars_max, chars_max / 3);
    (!cut.ends_with('…') && is_balanced(&cut)).then(|| full_stop(&cut))
}

/// Whether no quotation is left open.
fn is_balanced(text: &str) -> bool {
    text.matches('"').count().is_multiple_of(2) && text.matches('“').count() == text.matches('”').count()
}

/// Openings of sentences in the middle of an argument.
#[rustfmt::skip]
const MID_ARGUMENT: &[&str] = &[
    "the answer ", "the only ", "the whole point", "the short answer", "the deeper issue", "the hard part", "the hardest part",
    "even if ", "even though ", "not quite ", "one heads-up", "one thing ", "bonus: ", "reason: ", "problem: ", "main tradeoff",
    "the main ", "in other words", "that said", "so far", "the key ", "the trick ", "the catch ", "worth noting", "the good news",
    "the bad news", "the downside", "the upside", "the tradeoff", "the trade-off", "for example", "fix: ", "before: ", "after: ",
    "result: ", "could ", "couldn't ", "only have ", "right now ", "critical — ", "refactor — ", "the research ", "domain: ",
    "the fix is ", "the fix was ", "the changes are ", "the test ",
    "about ", "the issue was just", "looks ", "only ", "yes ", "yes,", "there are ",
    "because ", "the same applies", "the same goes", "into ", "lets ", "let's ", "if ", "absent ", "identical ", "same ", "takeaway: ",
    "description: ", "status: ", "research: ", "verification: ", "at some point", "to prove ", "to confirm ",
    "good ", "fair ", "agreed", "correct ", "confirmed", "clean ",
];

/// Nouns that name something only for those who followed the talk: "The bug existed because …".
#[rustfmt::skip]
const GENERIC_NOUNS: &[&str] = &[
    "bug", "issue", "problem", "field", "component", "change", "changes", "error", "question", "idea", "approach", "comment", "comments",
    "flow", "code", "section", "answer", "result", "cause", "reason", "alternative", "reviewer", "todo", "plan", "plans", "symlink",
    "file", "function", "screenshot", "feature", "fields", "files", "tests", "script", "command", "page", "row", "line",
];

/// Words after the subject of a sentence.
#[rustfmt::skip]
const AFTER_NOUN: &[&str] = &[
    "is", "was", "are", "were", "that", "which", "existed", "exists", "has", "had", "have", "didn't", "doesn't", "isn't", "wasn't", "don't",
    "will", "would", "can", "could", "should", "may", "also", "just", "only", "actually", "needs", "need", "comes", "came", "happens",
    "happened", "occurs", "knows", "uses", "works", "worked", "returns", "fails", "failed", "still", "already", "currently", "never",
];

/// Whether a sentence begins with "the" and a noun that says nothing, and names nothing else.
fn names_nothing(text: &str) -> bool {
    let mut words =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    let generic = words.next().is_some_and(|word| word == "the")
        && words.next().is_some_and(|word| GENERIC_NOUNS.contains(&word.as_str()))
        && words.next().is_some_and(|word| AFTER_NOUN.contains(&word.as_str()));
    generic && !text.contains('`')
}

/// Whether a sentence points at what was said before by "this".
fn points_by_this(text: &str) -> bool {
    let lower = text.to_lowercase();
    [
        ", this ",
        " this can ",
        " this would ",
        " this could ",
        " this will ",
        " this is ",
        " this means ",
        "itself, ",
        " up to date",
    ]
    .iter()
    .any(|phrase| lower.contains(phrase))
}

/// Whether a reader who did not follow the argument understands the sentence.
pub(super) fn stands_alone(text: &str) -> bool {
    let lower = text.to_lowercase();
    let first = gates::first_word(text);
    !(MID_ARGUMENT.iter().any(|start| lower.starts_with(start))
        || gates::refers_back(text)
        || names_nothing(text)
        || points_by_this(text)
        || gates::speaks_to_reader(&text.replace(['(', ')', ',', '.'], " "))
        || text.ends_with([':', '…', '?'])
        || text.contains(" these ")
        || text.contains(" I ")
        || text.starts_with("I ")
        || matches!(first.as_str(), "line" | "section" | "step" | "pr"))
}

/// First words of steps that somebody is to take.
const STEPS: &[&str] =
    &["create", "quit", "share", "keep", "add", "fetch", "install", "open", "set", "leave", "pick"];

/// Whether a sentence is a step to take rather than a statement.
pub(super) fn is_step(text: &str) -> bool {
    STEPS.contains(&gates::first_word(text).as_str())
}

/// Whether a sentence tells what was done, what a part of the change does, or a step to take, rather than what was
/// found out.
pub(super) fn tells_work(text: &str) -> bool {
    let lower = text.to_lowercase();
    let first = gates::first_word(text);
    let placed =
        ["(line ", "(lines ", "(around line ", "(after line "].iter().any(|place| lower.contains(place));
    let changed = [
        ": added ",
        "— added ",
        "— fix ",
        ": fix ",
        ": removed ",
        "— removed ",
        "— missing ",
        " also unified ",
        "they're now ",
    ];
    let subjectless = first.len() > 4 && first.ends_with('s') && !first.ends_with("ss") && has_verb(&first);
    placed
        || subjectless
        || is_step(text)
        || matches!(first.as_str(), "renders" | "builds" | "shrinks" | "runs" | "emits")
        || changed.iter().any(|phrase| lower.contains(phrase))
}

#[cfg(test)]
#[path = "account_line_tests.rs"]
mod tests;
