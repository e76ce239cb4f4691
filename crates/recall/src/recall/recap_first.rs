//! Prefers the decision that summarises a conversation over its parts.

use super::RecallQuery;
use super::near_rows::{LOOKED_AT, NearMemory};
use crate::recap;
use claude_mem_core::memory::ObservationType;
use claude_mem_search::subject::observation_words;
use claude_mem_store::{PageRequest, RowFilter, RowId, RowKind, StoreError, StoreReader};

/// If the best memory is a decision of a session with a recap, puts the recap first.
pub(super) fn promote_recap(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    found: &mut Vec<NearMemory>,
) -> Result<(), StoreError> {
    let Some(best) = found.first() else {
        return Ok(());
    };
    if best.row.session.is_none() || best.row.text.kind != ObservationType::DECISION {
        return Ok(());
    }
    let of_session = RowFilter {
        session: best.row.session,
        types: vec![ObservationType::DECISION],
        ..RowFilter::default()
    };
    let page = PageRequest::first(LOOKED_AT as u32);
    let mut settled = reads.observations(&of_session, page)?.items;
    settled.retain(|row| !row.wrong && row.replaced_by.is_none() && !row.held_back);
    let said: Vec<_> = settled.iter().map(observation_words).collect();
    let Some(recap_row) = recap::find_recap(&said).map(|at| settled.swap_remove(at)) else {
        return Ok(());
    };
    if recap_row.id == best.row.id || ask.shown.contains(&RowId::new(RowKind::Observation, recap_row.id.0)) {
        return Ok(());
    }
    let recap_row = NearMemory { row: recap_row, ..best.clone() };
    found.retain(|near| near.row.id != recap_row.row.id);
    found.insert(0, recap_row);
    Ok(())
}
