//! Which earlier decisions a new one takes the place of.
//!
//! Pure, and careful: a decision that is wrongly marked as replaced is no longer offered. So it
//! takes a name with another value, or words of change together with the same subject.

use std::collections::BTreeSet;

use super::similar::words;
use crate::ids::{ObservationId, SessionId};
use crate::memory::NewObservation;
use crate::search::subject::{AMENDED_PERCENT_MIN, telling_words};
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
/// Words that an amendment must share with what it amends, wherever they stand.
const AMENDED_WORDS_MIN: usize = 6;

/// A decision that is stored.
#[derive(Clone, Debug)]
pub struct Known<'r> {
    row: &'r Observation,
    subject: BTreeSet<String>,
    values: Vec<(String, String)>,
}

impl<'r> Known<'r> {
    pub fn of(row: &'r Observation) -> Self {
        Self {
            row,
            subject: subject(&row.title),
            values: values(&row.title, &row.facts),
        }
    }

    /// False: it does not hold any more, or a person has pinned it.
    const fn may_be_replaced(&self) -> bool {
        self.row.replaced_by.is_none() && !self.row.wrong && !self.row.pinned
    }

    fn decision(&self) -> Decision<'_> {
        let row = self.row;
        Decision {
            session: row.session,
            title: &row.title,
            subtitle: &row.subtitle,
            narrative: &row.narrative,
            facts: &row.facts,
            concepts: &row.concepts,
            subject: &self.subject,
        }
    }
}

/// What is compared of a decision, stored or about to be.
struct Decision<'d> {
    session: Option<SessionId>,
    title: &'d str,
    subtitle: &'d str,
    narrative: &'d str,
    facts: &'d [String],
    concepts: &'d [String],
    subject: &'d BTreeSet<String>,
}

/// The decisions of `known` that a new one of this session takes the place of, and the one that
/// takes its own: sessions are worked on side by side, so that the later word may come in first.
pub fn compare(
    new: &NewObservation,
    session: SessionId,
    known: &[Known<'_>],
) -> (Vec<ObservationId>, Option<ObservationId>) {
    let values = values(&new.title, &new.facts);
    let decision = Decision {
        session: Some(session),
        title: &new.title,
        subtitle: &new.subtitle,
        narrative: &new.narrative,
        facts: &new.facts,
        concepts: &new.concepts,
        subject: &subject(&new.title),
    };
    let (later, earlier): (Vec<_>, Vec<_>) = known
        .iter()
        .partition(|known| known.row.created_at > new.created_at);
    let older = replaced(&decision, &values, &earlier);
    let newer = later
        .iter()
        .filter(|later| takes_place(later, &decision, &values, known))
        .max_by_key(|later| (later.row.created_at, later.row.id));
    (older, newer.map(|later| later.row.id))
}

fn replaced(
    new: &Decision<'_>,
    values: &[(String, String)],
    earlier: &[&Known<'_>],
) -> Vec<ObservationId> {
    let held = || earlier.iter().filter(|known| known.may_be_replaced());
    let mut ids: Vec<ObservationId> = held()
        .filter(|known| contradict(values, &known.values))
        .map(|known| known.row.id)
        .collect();
    let nearest = held()
        .filter_map(|known| {
            let near = changes(new, &known.decision())?;
            Some((near, known.row.created_at, known.row.id))
        })
        .max();
    ids.extend(nearest.map(|(_, _, id)| id));
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Whether a later decision would have replaced this one, had it come in after it: no other one
/// before it is nearer to it.
fn takes_place(
    later: &Known<'_>,
    older: &Decision<'_>,
    values: &[(String, String)],
    known: &[Known<'_>],
) -> bool {
    if later.row.wrong {
        return false;
    }
    if contradict(&later.values, values) {
        return true;
    }
    let word = later.decision();
    let Some(near) = changes(&word, older) else {
        return false;
    };
    let mut before = known.iter().filter(|other| {
        other.row.created_at <= later.row.created_at && other.row.id != later.row.id
    });
    before.all(|other| changes(&word, &other.decision()).is_none_or(|other| other <= near))
}

/// How near a decision is to an earlier one that it changes, in percent; `None` if it does not
/// change it.
fn changes(new: &Decision<'_>, old: &Decision<'_>) -> Option<usize> {
    let amends = new.concepts.iter().any(|concept| concept == AMENDMENT);
    if !amends && !has_words_of_change(new) {
        return None;
    }
    let by_subject = nearness(new.subject, old.subject);
    // An amendment says what it is about in other words than the rule did. Within one session
    // they are words of the same conversation.
    let by_text = (amends && new.session != old.session)
        .then(|| overlap(new, old))
        .flatten();
    by_subject.max(by_text)
}

fn has_words_of_change(new: &Decision<'_>) -> bool {
    let text = format!("{} {}", new.title, new.subtitle);
    let text = format!(" {} ", words(&text).collect::<Vec<_>>().join(" "));
    CHANGES
        .iter()
        .any(|change| text.contains(&format!(" {change} ")))
}

/// How much of what an earlier rule speaks of an amendment takes up again.
fn overlap(new: &Decision<'_>, old: &Decision<'_>) -> Option<usize> {
    let telling = |decision: &Decision<'_>| {
        let texts = [decision.title, decision.narrative];
        telling_words(
            texts
                .into_iter()
                .chain(decision.facts.iter().map(String::as_str)),
        )
    };
    let (new, old) = (telling(new), telling(old));
    let shared = new.intersection(&old).count();
    let percent = shared * 100 / old.len().max(1);
    (shared >= AMENDED_WORDS_MIN && percent >= AMENDED_PERCENT_MIN).then_some(percent)
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
