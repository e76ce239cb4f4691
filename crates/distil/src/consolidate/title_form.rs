//! Whether a text has the form of a title: it states something by itself and is whole.

use crate::claim::{Claim, ClaimKind};
use crate::gates;
use crate::report::{is_passive, opens_with_work};
use crate::text::content_words;
use crate::titles::without_brackets;
use crate::verbs::has_verb;

use super::title_label::{behind_labels, is_labelled, sentence_title};

/// Maximum characters of a title.
pub(super) const TITLE_CHARS_MAX: usize = 120;

/// A title that names nothing from code needs this many words that mean something.
const PLAIN_TITLE_WORDS_MIN: usize = 6;

/// Beginnings of a title that says what was done to something it does not name.
#[rustfmt::skip]
const SUBJECTLESS: &[&str] = &[
    "fixed by ", "caused by ", "changed to ", "moved to ", "renamed to ", "switched to ", "replaced with ", "replaced by ", "done by ", "solved by ", "before: ", "after: ", "before — ", "after — ", "just ", "builds ",
    "adds ", "creates ", "allows ", "makes ", "uses ", "shows ", "returns ", "displays ", "includes ", "handles ", "covers ",
    "provides ", "removes ", "updates ", "moves ", "replaces ", "extracts ", "normalizes ",
];

pub(super) fn is_title(claim: &Claim) -> bool {
    makes_title(claim, &claim.text, &sentence_title(&claim.text))
}

/// Whether a title made of a sentence of a claim says something by itself.
pub(super) fn makes_title(claim: &Claim, sentence: &str, title: &str) -> bool {
    if matches!(claim.kind, ClaimKind::Rule | ClaimKind::Choice | ClaimKind::UserFact | ClaimKind::Finished) {
        return false;
    }
    let row = sentence.split(" — ").next().is_some_and(|cell| cell.split_whitespace().count() < 2);
    gates::stands_alone(sentence)
        && (has_verb(title) || is_labelled_clause(&claim.text))
        && !row
        && reads_as_title(title, sentence)
}

/// "The problem is that two readers share a cursor": behind such a label stands a clause, whatever its verb.
fn is_labelled_clause(text: &str) -> bool {
    text.strip_suffix(behind_labels(text)).is_some_and(|label| label.ends_with(" that "))
}

/// Whether a title made of a sentence says something by itself.
pub(super) fn reads_as_title(title: &str, sentence: &str) -> bool {
    gates::stands_alone(title)
        && (gates::names_something(title) || content_words(title).len() >= PLAIN_TITLE_WORDS_MIN)
        && !is_labelled(title)
        && !is_labelled_step(title)
        && !gates::has_unbound_pronoun(title)
        && !ends_half(title, sentence)
        && !SUBJECTLESS.iter().any(|start| title.to_lowercase().starts_with(start))
        && !gates::is_passing_trouble(title)
        && !tells_status(title)
        && !format!(" {title} ").contains(" I ")
        && title.matches(" — ").count() < 2
        && sentence.chars().count() <= 280
}

/// "Cloud console — Create a client": a step that somebody is to take, behind the place where.
fn is_labelled_step(title: &str) -> bool {
    let parts = title.split_once(" — ").or_else(|| title.split_once(": "));
    parts.is_some_and(|(head, rest)| {
        let orders = gates::opens_with_step(rest) || is_order(rest);
        !has_verb(head) && orders && rest.starts_with(char::is_uppercase)
    })
}

/// "Research: Completed": how far the work is.
pub(super) fn tells_status(title: &str) -> bool {
    let lower = title.to_lowercase();
    [": complete", ": passed", ": done", ": pending", ": in progress"]
        .iter()
        .any(|state| lower.contains(state))
}

/// Whether a title that leaves out the end of its sentence ends in a clause that led to it: "`list()`: When
/// the cache is empty".
fn ends_half(title: &str, text: &str) -> bool {
    let cut = title.chars().count() + 4 < text.chars().count();
    // What stands in brackets is not the clause.
    let title = without_brackets(title);
    let clauses = title.rsplit([',', ':', '—', '–', '(']);
    let last = clauses.into_iter().map(str::trim).find(|clause| !clause.is_empty()).unwrap_or(&title);
    let late = |word: &str| matches!(word, "if" | "when" | "while" | "unless" | "once");
    let opens = last.split_whitespace().take(3).any(late) || gates::opens_subordinate(last);
    cut && opens
}

/// Verbs by which a request asks for a change. Looking, trying and telling change nothing.
#[rustfmt::skip]
const WORK_ORDERS: &[&str] = &[
    "add", "fix", "create", "update", "remove", "delete", "write", "implement", "make", "rename", "move", "put",
    "set", "change", "replace", "refactor", "convert", "install", "build", "generate", "use", "apply", "resolve",
    "address", "clean", "split", "merge", "extract", "introduce", "support", "show", "hide", "enable", "disable",
    "allow", "prevent", "increase", "reduce", "improve", "simplify", "document", "bump", "migrate", "port", "drop",
];

/// Whether a title orders a change.
pub(super) fn is_order(title: &str) -> bool {
    WORK_ORDERS.contains(&gates::first_word(title).as_str())
}

/// Whether a title says that something was done, or orders it.
pub(super) fn says_work(title: &str) -> bool {
    // "The callback is never called" says how it is.
    let states = title.split_whitespace().take(5).any(|word| matches!(word, "is" | "are" | "was" | "were"));
    opens_with_work(title) || (is_passive(title) && !states) || is_order(title)
}
