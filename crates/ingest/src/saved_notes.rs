//! Merges saved notes into the user's statement that they restate.
//!
//! The user states a rule, the agent writes it down with a tool, and the session's claims state it too. It is one
//! memory: in the user's words and voice, with what the note adds as a fact.

use std::cmp::Reverse;

use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ObservationId, ProjectId, SessionId};
use claude_mem_core::memory::Origin;
use claude_mem_search::restated_rows;
use claude_mem_search::statement::{Restatement, Statement};
use claude_mem_store::{
    MemoryLevel, Observation, ObservationEdit, PageRequest, RowFilter, StoreError, StoreWriter,
};

/// Notes of one session that are compared.
const SESSION_NOTES_MAX: u32 = 100;

/// Merges the notes that restate one of these observations, which state the user's words. Returns the rows that are
/// gone: the notes, or the observation itself if a person has changed the note or made it global, because then the
/// note stays.
pub(crate) fn merge_into_statements(
    tx: &StoreWriter<'_>,
    stated: &[Observation],
    (session, project): (SessionId, Option<ProjectId>),
    now: Millis,
) -> Result<Vec<ObservationId>, StoreError> {
    let mut gone = Vec::new();
    for (note, id, how) in restating_notes(tx, stated, session, project)? {
        if gone.contains(&id) {
            continue;
        }
        // Facts and level change with every note.
        let row = tx.observation(id)?;
        if note.edited || note.level == MemoryLevel::User {
            restated_rows::strengthen(tx, &note, &row.text.kind, row.origin, now)?;
            tx.merge_observation(id, note.id)?;
            gone.push(id);
            continue;
        }
        if how == Restatement::Extended {
            restated_rows::keep_note(tx, &row, &restated_rows::text_of_note(&note), note.origin, now)?;
        }
        // Who saves a preference by hand has confirmed it.
        if row.level == MemoryLevel::Proposed
            && (note.origin, note.level) == (Origin::Manual, MemoryLevel::Project)
        {
            let level = ObservationEdit { level: Some(note.level), ..ObservationEdit::default() };
            tx.edit_observation(id, &level, now)?;
        }
        tx.merge_observation(note.id, id)?;
        gone.push(note.id);
    }
    Ok(gone)
}

/// The notes that restate statements of the user, each with the statement that it restates best: freely those of the
/// session, closely those of its project. In the order of the notes.
fn restating_notes(
    tx: &StoreWriter<'_>,
    stated: &[Observation],
    session: SessionId,
    project: Option<ProjectId>,
) -> Result<Vec<(Observation, ObservationId, Restatement)>, StoreError> {
    let of_session = RowFilter { session: Some(session), ..RowFilter::default() };
    let page = tx.observations(&of_session, PageRequest::first(SESSION_NOTES_MAX))?;
    let mut found = Vec::new();
    for note in page.items.into_iter().filter(is_mergeable) {
        let Some(said) = Statement::parse(&restated_rows::text_of_note(&note)) else { continue };
        let restated = stated.iter().filter(|row| row.id != note.id).filter_map(|row| {
            let (percent, how) = restated_rows::restatement(row, &said)?;
            Some(((how == Restatement::Covered, percent, Reverse(row.id)), how))
        });
        if let Some(((.., Reverse(row)), how)) = restated.max_by_key(|(rank, _)| *rank) {
            found.push((note, row, how));
        }
    }
    let Some(project) = project else {
        return Ok(found);
    };
    for row in stated {
        for note in restated_rows::rows_saying_same(tx, project, &row.text.title)? {
            let is_known = found.iter().any(|(known, ..)| known.id == note.id);
            if !is_known && is_mergeable(&note) && note.id != row.id {
                let said = Statement::parse(&restated_rows::text_of_note(&note));
                let how = said.and_then(|said| restated_rows::restatement(row, &said));
                found.push((note, row.id, how.map_or(Restatement::Extended, |(_, how)| how)));
            }
        }
    }
    found.sort_by_key(|(note, ..)| note.id);
    Ok(found)
}

fn is_mergeable(note: &Observation) -> bool {
    restated_rows::is_note(note) && !note.wrong && note.replaced_by.is_none()
}

#[cfg(test)]
#[path = "saved_notes_tests.rs"]
mod tests;
