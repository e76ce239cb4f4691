//! What a stored observation becomes when a new version of it arrives: its level, the text that stays, and whether
//! anything changes at all.

use claude_mem_core::memory::NewObservation;
use claude_mem_core::vocabulary::PREFERENCE;
use claude_mem_search::restated_rows;
use claude_mem_store::{MemoryLevel, Observation};

/// A preference is only proposed until the user confirms it.
pub(crate) fn level_of(new: &NewObservation) -> MemoryLevel {
    if new.text.concepts.iter().any(|concept| concept == PREFERENCE) {
        MemoryLevel::Proposed
    } else {
        MemoryLevel::Project
    }
}

/// The level of a row that is updated: what a person decided stays.
pub(crate) fn level_after(keeper: &Observation, merged: &[Observation], new: &NewObservation) -> MemoryLevel {
    let was_preference = keeper.text.concepts.iter().any(|concept| concept == PREFERENCE);
    if merged.iter().any(|row| row.level == MemoryLevel::User) {
        MemoryLevel::User
    } else if keeper.level == MemoryLevel::Project && was_preference {
        keeper.level
    } else {
        level_of(new)
    }
}

/// The observation with what was merged into its row: notes that extend it, and the stronger type and voice of other
/// sessions that said the same.
pub(crate) fn keep_merged(row: &Observation, new: &NewObservation) -> NewObservation {
    let mut new = new.clone();
    let notes = row.text.facts.iter().filter(|fact| restated_rows::is_note_fact(fact));
    new.text.facts.extend(notes.cloned());
    if row.source_count > 1 {
        let (kind, origin) =
            restated_rows::stronger((&new.text.kind, new.origin), (&row.text.kind, row.origin));
        (new.text.kind, new.origin) = (kind.clone(), origin);
    }
    new
}

/// Whether the row already says what the observation says.
pub(crate) fn is_same(row: &Observation, new: &NewObservation) -> bool {
    (&row.text.kind, &row.text.title, &row.text.subtitle, &row.text.narrative)
        == (&new.text.kind, &new.text.title, &new.text.subtitle, &new.text.narrative)
        && (&row.text.facts, &row.text.concepts, &row.text.files_read, &row.text.files_modified)
            == (&new.text.facts, &new.text.concepts, &new.text.files_read, &new.text.files_modified)
        && (row.origin, row.created_at, row.discovery_tokens)
            == (new.origin, new.created_at, new.discovery_tokens)
}
