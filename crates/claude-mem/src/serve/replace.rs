//! Which earlier decisions a new one takes the place of.
//!
//! Pure, and careful: a decision that is wrongly marked as replaced is no longer offered. So it
//! takes a name with another value, or words of change together with the same subject.

use std::collections::BTreeSet;

use super::similar::words;
use crate::clock::Millis;
use crate::ids::ObservationId;
use crate::memory::NewObservation;
use crate::store::Observation;
use crate::vocabulary::AMENDMENT;

/// Words by which people take something back.
const CHANGES: [&str; 16] = [
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

/// Words that any two decisions share.
const COMMON: [&str; 42] = [
    "a", "all", "always", "an", "and", "are", "as", "at", "be", "because", "by", "for", "from",
    "has", "have", "in", "instead", "is", "it", "its", "longer", "must", "never", "no", "not",
    "now", "of", "on", "only", "or", "rather", "should", "than", "that", "the", "this", "to",
    "use", "uses", "we", "will", "with",
];

/// Subject words that both must have, at the least, and their share of the shorter one's.
const SHARED_WORDS_MIN: usize = 2;
const SHARED_PERCENT_MIN: usize = 60;

/// An earlier decision that still holds.
#[derive(Clone, Debug)]
pub struct Known {
    id: ObservationId,
    at: Millis,
    subject: BTreeSet<String>,
    values: Vec<(String, String)>,
}

impl Known {
    /// `None`: it does not hold any more, or a person has pinned it.
    pub fn of(row: &Observation) -> Option<Self> {
        let holds = row.replaced_by.is_none() && !row.wrong && !row.pinned;
        holds.then(|| Self {
            id: row.id,
            at: row.created_at,
            subject: subject(&row.title),
            values: values(&row.title, &row.facts),
        })
    }
}

/// The decisions of `known` that no longer hold once `new` does.
pub fn replaced(new: &NewObservation, known: &[Known]) -> Vec<ObservationId> {
    let earlier = || known.iter().filter(|known| known.at <= new.created_at);
    let values = values(&new.title, &new.facts);
    let mut ids: Vec<ObservationId> = earlier()
        .filter(|known| contradict(&values, &known.values))
        .map(|known| known.id)
        .collect();
    if is_a_change(new) {
        let subject = subject(&new.title);
        let nearest = earlier()
            .filter_map(|known| Some((nearness(&subject, &known.subject)?, known.at, known.id)))
            .max();
        ids.extend(nearest.map(|(_, _, id)| id));
    }
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn is_a_change(new: &NewObservation) -> bool {
    if new.concepts.iter().any(|concept| concept == AMENDMENT) {
        return true;
    }
    let text = format!("{} {}", new.title, new.subtitle);
    let text = format!(" {} ", words(&text).collect::<Vec<_>>().join(" "));
    CHANGES
        .iter()
        .any(|change| text.contains(&format!(" {change} ")))
}

/// How much of the shorter subject the two share, in percent; `None` below the bounds.
fn nearness(one: &BTreeSet<String>, other: &BTreeSet<String>) -> Option<usize> {
    let shared = one.intersection(other).count();
    let percent = shared * 100 / one.len().min(other.len()).max(1);
    (shared >= SHARED_WORDS_MIN && percent >= SHARED_PERCENT_MIN).then_some(percent)
}

fn subject(title: &str) -> BTreeSet<String> {
    words(title)
        .filter(|word| !COMMON.contains(&word.as_str()))
        .collect()
}

/// One name, two values.
fn contradict(new: &[(String, String)], old: &[(String, String)]) -> bool {
    let differs = |(name, value): &(String, String)| {
        let mut same_name = old.iter().filter(|(known, _)| known == name).peekable();
        same_name.peek().is_some() && same_name.all(|(_, known)| known != value)
    };
    new.iter().any(differs)
}

/// Names of code that are said to have a value: `MAX_RETRIES = 5`, `pool_size is 8`.
fn values(title: &str, facts: &[String]) -> Vec<(String, String)> {
    let texts = std::iter::once(title).chain(facts.iter().map(String::as_str));
    let mut found = Vec::new();
    for text in texts {
        let tokens: Vec<&str> = text
            .split_whitespace()
            .flat_map(apart)
            .map(|token| token.trim_matches(['`', '\'', '"', ',', ';', '(', ')']))
            .collect();
        for window in tokens.windows(3) {
            let [name, says, value] = window else {
                continue;
            };
            if is_name(name) && is_assignment(says) && is_value(value) {
                found.push(((*name).to_owned(), value.trim_end_matches('.').to_owned()));
            }
        }
    }
    found
}

/// `RETRIES=5` and `retries: 5` are three tokens each.
fn apart(token: &str) -> Vec<&str> {
    match token.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => vec![name, "=", value],
        _ => match token.strip_suffix(':') {
            Some(name) => vec![name, "="],
            None => vec![token],
        },
    }
}

/// A name of code, not a word: it has an underscore, or nothing but capitals.
fn is_name(token: &str) -> bool {
    let plain = token
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
    let capitals = token.len() > 2 && token.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    plain
        && (token.contains('_') || capitals)
        && token.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn is_assignment(token: &str) -> bool {
    matches!(token, "=" | "is" | "at" | "to" | "becomes" | "be" | ":=")
}

/// A number, perhaps with a unit, or a switch.
fn is_value(token: &str) -> bool {
    let word = token.trim_end_matches('.');
    word.starts_with(|c: char| c.is_ascii_digit())
        || matches!(word, "true" | "false" | "on" | "off" | "null" | "none")
}

#[cfg(test)]
#[path = "replace_tests.rs"]
mod tests;
