//! Decides which earlier decisions a new one supersedes.
//!
//! Pure, and conservative: a decision wrongly marked as superseded is no longer offered. So it takes
//! an identifier with a different value, or a phrase of change together with the same subject.

use std::collections::BTreeSet;

use claude_mem_core::ids::{ObservationId, SessionId};
use claude_mem_core::memory::NewObservation;
use claude_mem_core::vocabulary::AMENDMENT;
use claude_mem_search::analyzer::words;
use claude_mem_search::subject::{AMENDED_PERCENT_MIN, content_words};
use claude_mem_store::Observation;

/// Phrases by which people revise a decision.
const CHANGE_PHRASES: [&str; 16] = [
    "actually",
    "anymore",
    "any more",
    "changed to",
    "from now on",
    "instead",
    "moved from",
    "moved to",
    "no longer",
    "not any longer",
    "rather than",
    "replaced",
    "replaces",
    "reverted",
    "switch to",
    "switched",
];

/// Words that say nothing about a decision's subject.
const STOP_WORDS: [&str; 42] = [
    "a", "all", "always", "an", "and", "are", "as", "at", "be", "because", "by", "for", "from", "has",
    "have", "in", "instead", "is", "it", "its", "longer", "must", "never", "no", "not", "now", "of", "on",
    "only", "or", "rather", "should", "than", "that", "the", "this", "to", "use", "uses", "we", "will",
    "with",
];

/// Subject words that two decisions must share.
const SHARED_WORDS_MIN: usize = 2;
/// The share of the shorter subject that these must be.
const SHARED_PERCENT_MIN: usize = 60;
/// Words that an amendment must share with the whole text of the decision it amends.
const AMENDED_WORDS_MIN: usize = 6;

/// A stored decision, with its subject words and assigned values.
#[derive(Clone, Debug)]
pub(crate) struct StoredDecision<'r> {
    row: &'r Observation,
    subject: BTreeSet<String>,
    values: Vec<(String, String)>,
}

impl<'r> StoredDecision<'r> {
    pub(crate) fn from_row(row: &'r Observation) -> Self {
        Self {
            row,
            subject: subject_words(&row.text.title),
            values: assigned_values(&row.text.title, &row.text.facts),
        }
    }

    /// False if the decision is already superseded or marked wrong, or if a user has pinned it.
    const fn may_be_replaced(&self) -> bool {
        self.row.replaced_by.is_none() && !self.row.wrong && !self.row.pinned
    }

    fn view(&self) -> DecisionView<'_> {
        let row = self.row;
        DecisionView {
            session: row.session,
            title: &row.text.title,
            subtitle: &row.text.subtitle,
            narrative: &row.text.narrative,
            facts: &row.text.facts,
            concepts: &row.text.concepts,
            subject: &self.subject,
        }
    }
}

/// The compared parts of a decision, stored or new.
struct DecisionView<'d> {
    session: Option<SessionId>,
    title: &'d str,
    subtitle: &'d str,
    narrative: &'d str,
    facts: &'d [String],
    concepts: &'d [String],
    subject: &'d BTreeSet<String>,
}

/// The decisions of `known` that a new one supersedes, and the decision that supersedes the new one.
/// The latter exists because sessions are processed in parallel: a later decision may be stored
/// first.
pub(crate) fn compare_decisions(
    new: &NewObservation,
    session: SessionId,
    known: &[StoredDecision<'_>],
) -> (Vec<ObservationId>, Option<ObservationId>) {
    let values = assigned_values(&new.text.title, &new.text.facts);
    let decision = DecisionView {
        session: Some(session),
        title: &new.text.title,
        subtitle: &new.text.subtitle,
        narrative: &new.text.narrative,
        facts: &new.text.facts,
        concepts: &new.text.concepts,
        subject: &subject_words(&new.text.title),
    };
    let (later, earlier): (Vec<_>, Vec<_>) =
        known.iter().partition(|known| known.row.created_at > new.created_at);
    let older = superseded_ids(&decision, &values, &earlier);
    let newer = later
        .iter()
        .filter(|later| supersedes(later, &decision, &values, known))
        .max_by_key(|later| (later.row.created_at, later.row.id));
    (older, newer.map(|later| later.row.id))
}

fn superseded_ids(
    new: &DecisionView<'_>,
    values: &[(String, String)],
    earlier: &[&StoredDecision<'_>],
) -> Vec<ObservationId> {
    let held = || earlier.iter().filter(|known| known.may_be_replaced());
    let mut ids: Vec<ObservationId> = held()
        .filter(|known| has_conflicting_value(values, &known.values))
        .map(|known| known.row.id)
        .collect();
    let nearest = held()
        .filter_map(|known| {
            let near = change_percent(new, &known.view())?;
            Some((near, known.row.created_at, known.row.id))
        })
        .max();
    ids.extend(nearest.map(|(_, _, id)| id));
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Whether a later decision would have superseded this one, had they been stored in order: among
/// the decisions before it, none is more similar to it.
fn supersedes(
    later: &StoredDecision<'_>,
    older: &DecisionView<'_>,
    values: &[(String, String)],
    known: &[StoredDecision<'_>],
) -> bool {
    if later.row.wrong {
        return false;
    }
    if has_conflicting_value(&later.values, values) {
        return true;
    }
    let word = later.view();
    let Some(near) = change_percent(&word, older) else {
        return false;
    };
    let mut before = known
        .iter()
        .filter(|other| other.row.created_at <= later.row.created_at && other.row.id != later.row.id);
    before.all(|other| change_percent(&word, &other.view()).is_none_or(|other| other <= near))
}

/// How similar a decision is to an earlier one that it changes, in percent; `None` if it does not
/// change it.
fn change_percent(new: &DecisionView<'_>, old: &DecisionView<'_>) -> Option<usize> {
    let amends = new.concepts.iter().any(|concept| concept == AMENDMENT);
    if !amends && !has_change_phrase(new) {
        return None;
    }
    let by_subject = subject_overlap_percent(new.subject, old.subject);
    // An amendment describes its subject in other words than the rule, so their whole texts are
    // compared. Not within one session, where all texts share the words of the conversation.
    let by_text = (amends && new.session != old.session).then(|| text_overlap_percent(new, old)).flatten();
    by_subject.max(by_text)
}

fn has_change_phrase(new: &DecisionView<'_>) -> bool {
    let heading = format!("{} {}", new.title, new.subtitle);
    let text = format!(" {} ", words(&heading).collect::<Vec<_>>().join(" "));
    CHANGE_PHRASES.iter().any(|change| text.contains(&format!(" {change} ")))
}

/// The share of an earlier decision's telling words that an amendment repeats, in percent; `None`
/// below the bounds.
fn text_overlap_percent(new: &DecisionView<'_>, old: &DecisionView<'_>) -> Option<usize> {
    let telling = |decision: &DecisionView<'_>| {
        let texts = [decision.title, decision.narrative];
        content_words(texts.into_iter().chain(decision.facts.iter().map(String::as_str)))
    };
    let (new, old) = (telling(new), telling(old));
    let shared = new.intersection(&old).count();
    let percent = shared * 100 / old.len().max(1);
    (shared >= AMENDED_WORDS_MIN && percent >= AMENDED_PERCENT_MIN).then_some(percent)
}

/// The share of the shorter subject that both have, in percent; `None` below the bounds.
fn subject_overlap_percent(one: &BTreeSet<String>, other: &BTreeSet<String>) -> Option<usize> {
    let shared = one.intersection(other).count();
    let percent = shared * 100 / one.len().min(other.len()).max(1);
    (shared >= SHARED_WORDS_MIN && percent >= SHARED_PERCENT_MIN).then_some(percent)
}

fn subject_words(title: &str) -> BTreeSet<String> {
    words(title).filter(|word| !STOP_WORDS.contains(&word.as_str())).collect()
}

/// Whether both assign different values to the same identifier.
fn has_conflicting_value(new: &[(String, String)], old: &[(String, String)]) -> bool {
    let differs = |(name, value): &(String, String)| {
        let mut same_name = old.iter().filter(|(known, _)| known == name).peekable();
        same_name.peek().is_some() && same_name.all(|(_, known)| known != value)
    };
    new.iter().any(differs)
}

/// Identifiers with their assigned values: `MAX_RETRIES = 5`, `pool_size is 8`.
fn assigned_values(title: &str, facts: &[String]) -> Vec<(String, String)> {
    let texts = std::iter::once(title).chain(facts.iter().map(String::as_str));
    let mut found = Vec::new();
    for text in texts {
        let tokens: Vec<&str> = text
            .split_whitespace()
            .flat_map(split_assignment)
            .map(|token| token.trim_matches(['`', '\'', '"', ',', ';', '(', ')']))
            .collect();
        for window in tokens.windows(3) {
            let [name, says, value] = window else {
                continue;
            };
            if is_identifier(name) && is_assignment(says) && is_value(value) {
                found.push(((*name).to_owned(), value.trim_end_matches('.').to_owned()));
            }
        }
    }
    found
}

/// Splits `RETRIES=5` into three tokens, and `retries:` into a name and an assignment.
fn split_assignment(token: &str) -> Vec<&str> {
    match token.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => vec![name, "=", value],
        _ => match token.strip_suffix(':') {
            Some(name) => vec![name, "="],
            None => vec![token],
        },
    }
}

/// Whether the token is an identifier: it has an underscore or consists of capitals.
fn is_identifier(token: &str) -> bool {
    let plain = token.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
    let capitals = token.len() > 2 && token.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    plain && (token.contains('_') || capitals) && token.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn is_assignment(token: &str) -> bool {
    matches!(token, "=" | "is" | "at" | "to" | "becomes" | "be" | ":=")
}

/// Whether the token is a number, possibly with a unit, or a keyword such as `true` or `off`.
fn is_value(token: &str) -> bool {
    let word = token.trim_end_matches('.');
    word.starts_with(|c: char| c.is_ascii_digit())
        || matches!(word, "true" | "false" | "on" | "off" | "null" | "none")
}

#[cfg(test)]
#[path = "supersede_tests.rs"]
mod tests;
