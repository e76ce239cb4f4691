//! Decides anew which decisions replace each other, after the text of some of them has changed.

use crate::supersede;
use crate::supersede::StoredDecision;
use claude_mem_core::ids::{ObservationId, ProjectId};
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType};
use claude_mem_store::{Observation, PageRequest, RowFilter, RowOwner, StoreError, StoreReader, StoreWriter};

/// Maximum decisions of its project that a new decision is compared with to find superseded ones.
pub(crate) const REPLACEABLE_ROWS_MAX: u32 = 300;

/// The newest own decisions of a project: those of other members are neither judged nor replaced.
pub(crate) fn decisions_of(
    reads: &StoreReader<'_>,
    project: ProjectId,
) -> Result<Vec<Observation>, StoreError> {
    let filter = RowFilter {
        project: Some(project),
        types: vec![ObservationType::DECISION],
        who: Some(RowOwner::Own),
        ..RowFilter::default()
    };
    Ok(reads.observations(&filter, PageRequest::first(REPLACEABLE_ROWS_MAX))?.items)
}

/// Finds out which decisions these new or changed ones replace, and which ones replace them.
pub(crate) fn refresh(
    tx: &StoreWriter<'_>,
    project: ProjectId,
    changed: &[ObservationId],
) -> Result<(), StoreError> {
    if changed.is_empty() {
        return Ok(());
    }
    for id in changed {
        tx.clear_replacements(*id)?;
    }
    let mut rows = tx.observations_by_id(changed)?;
    rows.sort_by_key(|row| (row.created_at, row.id));
    let mut known = decisions_of(tx, project)?;
    for row in rows {
        let Some(session) = row.session else {
            continue;
        };
        // What one turn decides together replaces nothing of itself.
        let others = known.iter().filter(|other| {
            other.id != row.id && (other.session, other.created_at) != (row.session, row.created_at)
        });
        let others: Vec<StoredDecision<'_>> = others.map(StoredDecision::from_row).collect();
        let (older, newer) = supersede::compare_decisions(&as_new(&row), session, &others);
        for older in &older {
            tx.replace_observation(*older, row.id)?;
        }
        if let Some(newer) = newer {
            tx.replace_observation(row.id, newer)?;
        }
        if !older.is_empty() || newer.is_some() {
            known = decisions_of(tx, project)?;
        }
    }
    Ok(())
}

fn as_new(row: &Observation) -> NewObservation {
    NewObservation::from_text(
        ObservationText {
            subtitle: row.text.subtitle.clone(),
            narrative: row.text.narrative.clone(),
            facts: row.text.facts.clone(),
            concepts: row.text.concepts.clone(),
            ..ObservationText::new(row.text.kind.clone(), row.text.title.clone())
        },
        row.origin,
        row.created_at,
    )
}
