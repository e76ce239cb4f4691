//! Decides whether finished work closes an open item of an earlier session.
//!
//! Pure, and conservative: an item that stays open costs a line, an item that is closed wrongly is lost.

use std::collections::BTreeSet;

use claude_mem_search::analyzer::{is_stop_word, words};
use claude_mem_search::stem::stem;

/// Words that an item without identifiers must share with the finished work.
const SHARED_WORDS_MIN: usize = 2;
/// The share of the item's words that these must be, in percent.
const SHARED_PERCENT_MIN: usize = 70;
/// The same, if an identifier is shared as well.
const SHARED_PERCENT_WITH_NAME_MIN: usize = 40;

/// Words that a request may have more when it is asked again: "ok", "please".
const REPEATED_WORDS_MORE_MAX: usize = 2;

/// The words that a refused commit and one of the same branch with the same verb must share to be the same change.
const NEAR_WORDS_MIN: usize = 3;
const NEAR_PERCENT_MIN: usize = 40;

/// The words that an item must have, and the share of them, to be finished on another branch.
const PLAIN_WORDS_MIN: usize = 4;
const PLAIN_PERCENT_MIN: usize = 85;
const PLAIN_PERCENT_WITH_NAME_MIN: usize = 60;

/// Verbs and nouns of work in general: they say nothing about which work.
const GENERIC_WORDS: [&str; 40] = [
    "add",
    "added",
    "adding",
    "also",
    "bug",
    "bugs",
    "change",
    "changed",
    "complete",
    "completed",
    "create",
    "created",
    "do",
    "done",
    "finish",
    "finished",
    "fix",
    "fixed",
    "implement",
    "implemented",
    "issue",
    "left",
    "make",
    "need",
    "needed",
    "needs",
    "next",
    "open",
    "problem",
    "remain",
    "remaining",
    "remains",
    "step",
    "still",
    "todo",
    "update",
    "updated",
    "work",
    "write",
    "yet",
];

/// Words by which a text says that something was not done.
const NEGATIONS: [&str; 12] = [
    "not",
    "no",
    "never",
    "without",
    "except",
    "cannot",
    "failed",
    "fails",
    "postponed",
    "skipped",
    "deferred",
    "pending",
];

/// Branches into which others are merged.
const MAIN_BRANCHES: [&str; 5] = ["main", "master", "trunk", "develop", "dev"];

/// What a text is about: its identifiers, its numbers and its other content words.
struct WorkSubject {
    names: BTreeSet<String>,
    numbers: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl WorkSubject {
    fn read(text: &str) -> Self {
        let mut subject = Self { names: BTreeSet::new(), numbers: BTreeSet::new(), words: BTreeSet::new() };
        for token in text.split_whitespace() {
            let token = token.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_'));
            if is_identifier(token) {
                subject.names.insert(token.to_lowercase());
                continue;
            }
            for word in words(token) {
                if word.bytes().all(|byte| byte.is_ascii_digit()) {
                    subject.numbers.insert(word);
                } else if !is_stop_word(&word) && !GENERIC_WORDS.contains(&word.as_str()) {
                    subject.words.insert(stem(&word));
                }
            }
        }
        subject
    }

    /// Whether the other subject says all of this and hardly more.
    fn is_repeated_by(&self, other: &Self) -> bool {
        self.names == other.names
            && self.numbers == other.numbers
            && self.words.is_subset(&other.words)
            && other.words.len() <= self.words.len() + REPEATED_WORDS_MORE_MAX
    }

    /// Whether the other subject is about the same change in other words.
    fn is_near(&self, other: &Self) -> bool {
        let shared = self.words.intersection(&other.words).count();
        shared >= NEAR_WORDS_MIN && shared * 100 >= NEAR_PERCENT_MIN * self.words.len()
    }
}

/// Whether a token is a name in code or a path: it has an inner mark, or an upper-case letter inside.
fn is_identifier(token: &str) -> bool {
    let inner_mark = token.contains("::") || token.contains(['_', '/', '.']);
    let mut chars = token.chars();
    let starts_lower = chars.next().is_some_and(char::is_lowercase);
    let camel = starts_lower && chars.any(char::is_uppercase);
    token.chars().any(char::is_alphabetic) && (inner_mark || camel)
}

/// How surely finished work is what an item asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ItemMatch {
    /// Enough on the same branch.
    Likely,
    /// Enough on any branch: the todo is filed on one branch and done on another.
    Plain,
}

/// How surely this finished work is what the item asked for; `None` if it is not.
pub(crate) fn finishes(finished: &str, item: &str) -> Option<ItemMatch> {
    if words(finished).any(|word| NEGATIONS.contains(&word.as_str())) {
        return None;
    }
    let (done, asked) = (WorkSubject::read(finished), WorkSubject::read(item));
    if !asked.numbers.is_subset(&done.numbers) {
        return None;
    }
    let shared = asked.words.intersection(&done.words).count();
    let percent = shared * 100 / asked.words.len().max(1);
    let (is_likely, is_plain) = if asked.names.is_empty() {
        let is_plain = asked.words.len() >= PLAIN_WORDS_MIN && percent >= PLAIN_PERCENT_MIN;
        (shared >= SHARED_WORDS_MIN && percent >= SHARED_PERCENT_MIN, is_plain)
    } else {
        // Every name of the item, and what is to be done with it.
        let has_names = asked.names.is_subset(&done.names);
        let is_likely = asked.words.is_empty() || shared > 0 && percent >= SHARED_PERCENT_WITH_NAME_MIN;
        (has_names && is_likely, has_names && percent >= PLAIN_PERCENT_WITH_NAME_MIN)
    };
    match (is_likely, is_plain) {
        (_, true) => Some(ItemMatch::Plain),
        (true, false) => Some(ItemMatch::Likely),
        (false, false) => None,
    }
}

/// What a session finished: in words, and as keys of items that its record shows as done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkRecord<'r> {
    pub finished: &'r [String],
    pub settled: &'r [String],
}

impl<'r> WorkRecord<'r> {
    /// The work that closes an item; `None` if it stays open. `same_line`: the work was done where the item was
    /// opened, or where branches meet.
    pub(crate) fn closing(&self, claim: &str, text: &str, same_line: bool) -> Option<&'r str> {
        if let Some(settled) = self.settled.iter().find(|settled| settles(settled, claim)) {
            return Some(settled.split_once(':').map_or(settled.as_str(), |(_, name)| name));
        }
        if claim.starts_with("request:") {
            // Only the forge knows when a pull request is merged.
            return None;
        }
        let subject = item_subject(claim, text);
        let asked = WorkSubject::read(subject);
        let is_done = |done: &&String| match finishes(done, subject) {
            Some(ItemMatch::Plain) => true,
            Some(ItemMatch::Likely) => same_line,
            // The same request asked again and carried out, or the refused commit in other words.
            None => {
                let again = || asked.is_repeated_by(&WorkSubject::read(done));
                let same_verb = || words(done).next() == words(subject).next();
                let reworded = || same_line && same_verb() && asked.is_near(&WorkSubject::read(done));
                (claim.starts_with("asked:") && again()) || (claim.starts_with("refused:") && reworded())
            }
        };
        self.finished.iter().find(is_done).map(String::as_str)
    }
}

/// Whether the record settles an item by its key. A note is known by its file name: folders tell its state.
fn settles(settled: &str, claim: &str) -> bool {
    let file =
        |key: &str| key.strip_prefix("note:").and_then(|path| path.rsplit('/').next()).map(str::to_owned);
    settled == claim || file(settled).is_some_and(|name| file(claim).as_deref() == Some(name.as_str()))
}

/// The words of an item that say what is to be done, without those that say why it is open.
fn item_subject<'i>(claim: &'i str, text: &'i str) -> &'i str {
    match claim.split_once(':') {
        Some(("plan" | "refused", _)) => {
            let quoted = text.split_once('“').and_then(|(_, rest)| rest.split_once('”'));
            quoted.map_or(text, |(subject, _)| subject)
        }
        Some(("asked", _)) => text.split_once(": ").map_or(text, |(_, subject)| subject),
        // The path of a note is no word that work must repeat.
        Some(("note", _)) => text.rsplit_once(" (`").map_or(text, |(title, _)| title),
        _ => text,
    }
}

/// Whether work on one branch can finish an item of another: the same branch, an unknown one, or one side
/// is a branch that others are merged into.
pub(crate) fn branches_meet(item: Option<&str>, work: Option<&str>) -> bool {
    match (item, work) {
        (Some(item), Some(work)) => {
            item == work || MAIN_BRANCHES.contains(&item) || MAIN_BRANCHES.contains(&work)
        }
        _ => true,
    }
}

#[cfg(test)]
#[path = "item_matcher_tests.rs"]
mod tests;
