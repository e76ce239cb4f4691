//! Finds stored observations that state the same as a text, and keeps what a restating note adds.
//!
//! Saving a note and consolidating a session both use it, so that one rule is one memory whichever of the two
//! comes first.

use std::borrow::Cow;
use std::cmp::Reverse;

use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ObservationId, ProjectId};
use claude_mem_core::limits::{FACT_CHARS_MAX, LIST_ENTRIES_MAX};
use claude_mem_core::memory::{ObservationType, Origin};
use claude_mem_store::{
    FtsQuery, MANUAL, Observation, RowKind, StoreError, StoreReader, StoreWriter, TextSelection,
};

use crate::statement::{Restatement, Statement, is_negation, telling_words};

/// Words by which restating rows are found: the longest of a statement.
const SEARCH_WORDS: usize = 3;
/// Documents with these words that are compared.
const CANDIDATES_MAX: u32 = 100;
/// What introduces a note in the facts of the observation that it was merged into.
const AGENT_NOTE: &str = "Noted by the agent: ";
const HAND_NOTE: &str = "Noted by hand: ";

/// What a saved note says: its text, with its title if that says something else.
pub fn note_text<'n>(title: &'n str, narrative: &'n str) -> Cow<'n, str> {
    let (title, text) = (title.trim(), narrative.trim());
    if text.is_empty() {
        return Cow::Borrowed(title);
    }
    if text.starts_with(title.trim_end_matches(['.', '…'])) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{title}\n{text}"))
}

/// What a stored note says.
pub fn text_of_note(note: &Observation) -> Cow<'_, str> {
    note_text(&note.text.title, &note.text.narrative)
}

/// Whether an observation is a note that a person or an agent saved.
pub fn is_note(row: &Observation) -> bool {
    row.made_by == MANUAL && row.member.is_none()
}

/// How a note of the same session restates an observation, by its title or one of its facts: the share of the words
/// in percent, and whether the note adds some.
pub fn restatement(row: &Observation, note: &Statement) -> Option<(usize, Restatement)> {
    let said =
        std::iter::once(&row.text.title).chain(row.text.facts.iter().filter(|fact| !is_note_fact(fact)));
    let restated = said.filter_map(|text| Statement::parse(text)?.restated_by(note));
    restated.max_by_key(|(percent, how)| (*how == Restatement::Covered, *percent))
}

/// Own observations of a project whose title, or whose whole note, says the same as the text. Oldest first, without
/// those that are marked wrong or replaced.
pub fn rows_saying_same(
    reads: &StoreReader<'_>,
    project: ProjectId,
    text: &str,
) -> Result<Vec<Observation>, StoreError> {
    let Some(wanted) = Statement::parse(text) else {
        return Ok(Vec::new());
    };
    let mut terms = telling_words(text);
    terms.retain(|word| !is_negation(word));
    terms.sort_by(|one, other| (Reverse(one.len()), one).cmp(&(Reverse(other.len()), other)));
    terms.dedup();
    let terms = terms.into_iter().take(SEARCH_WORDS).map(FtsQuery::Term).collect();
    let selection = TextSelection {
        project: Some(project),
        words: Some(FtsQuery::And(terms)),
        kind: Some(RowKind::Observation),
        ..TextSelection::default()
    };
    let found = reads.select_texts(&selection, CANDIDATES_MAX)?;
    let ids: Vec<ObservationId> = found.iter().map(|document| ObservationId(document.row_id)).collect();
    let mut rows = reads.observations_by_id(&ids)?;
    rows.retain(|row| {
        let says = |text: &str| Statement::parse(text).is_some_and(|said| said.says_same(&wanted));
        let is_current = !row.wrong && row.replaced_by.is_none() && row.member.is_none();
        is_current && if is_note(row) { says(&text_of_note(row)) } else { says(&row.text.title) }
    });
    Ok(rows)
}

/// Adds a note to the facts of an observation that it restates and extends.
pub fn keep_note(
    tx: &StoreWriter<'_>,
    row: &Observation,
    note: &str,
    origin: Origin,
    now: Millis,
) -> Result<(), StoreError> {
    let label = if origin == Origin::Agent { AGENT_NOTE } else { HAND_NOTE };
    let fact: String = format!("{label}{note}").chars().take(FACT_CHARS_MAX).collect();
    if row.text.facts.contains(&fact) || row.text.facts.len() >= LIST_ENTRIES_MAX {
        return Ok(());
    }
    let facts = row.text.facts.iter().cloned().chain([fact]).collect();
    tx.set_facts(row.id, facts, now)
}

/// Whether a fact is a note that was merged into its observation.
pub fn is_note_fact(fact: &str) -> bool {
    fact.starts_with(AGENT_NOTE) || fact.starts_with(HAND_NOTE)
}

/// Raises type and voice of an observation to those of somebody who said the same: a decision stays a decision, and
/// words of the user stay the user's.
pub fn strengthen(
    tx: &StoreWriter<'_>,
    row: &Observation,
    kind: &ObservationType,
    origin: Origin,
    now: Millis,
) -> Result<(), StoreError> {
    let (raised_kind, raised_origin) = stronger((&row.text.kind, row.origin), (kind, origin));
    if *raised_kind == row.text.kind && raised_origin == row.origin {
        return Ok(());
    }
    tx.set_type_and_origin(row.id, raised_kind, raised_origin, now)
}

/// The stronger type and the stronger voice of two observations that say the same.
pub fn stronger<'k>(
    (kind, origin): (&'k ObservationType, Origin),
    (other_kind, other_origin): (&'k ObservationType, Origin),
) -> (&'k ObservationType, Origin) {
    let kind = if *other_kind == ObservationType::DECISION { other_kind } else { kind };
    let rank = |origin: Origin| match origin {
        Origin::User => 2,
        Origin::Manual => 1,
        Origin::Agent | Origin::Tool | Origin::Web | Origin::Import => 0,
    };
    (kind, if rank(other_origin) > rank(origin) { other_origin } else { origin })
}
