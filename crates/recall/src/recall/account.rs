//! The account of a talk that settled much goes before any part of it.

use super::RecallQuery;
use super::near_rows::{LOOKED_AT, NearMemory};
use crate::recap;
use claude_mem_core::memory::ObservationType;
use claude_mem_search::subject::observation_words;
use claude_mem_store::{PageRequest, RowFilter, RowId, RowKind, StoreError, StoreReader};

/// Where the best comes from a talk that summed up what it settled, that goes first.
pub(super) fn goes_first(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    found: &mut Vec<NearMemory>,
) -> Result<(), StoreError> {
    let Some(best) = found.first() else {
        return Ok(());
    };
    if best.row.session.is_none() || best.row.kind != ObservationType::DECISION {
        return Ok(());
    }
    let talk = RowFilter {
        session: best.row.session,
        types: vec![ObservationType::DECISION],
        ..RowFilter::default()
    };
    let page = PageRequest::first(LOOKED_AT as u32);
    let mut settled = reads.observations(&talk, page)?.items;
    settled.retain(|row| !row.wrong && row.replaced_by.is_none() && !row.held_back);
    let said: Vec<_> = settled.iter().map(observation_words).collect();
    let Some(account) = recap::find_recap(&said).map(|at| settled.swap_remove(at)) else {
        return Ok(());
    };
    if account.id == best.row.id || ask.shown.contains(&RowId::new(RowKind::Observation, account.id.0)) {
        return Ok(());
    }
    let account = NearMemory { row: account, ..best.clone() };
    found.retain(|near| near.row.id != account.row.id);
    found.insert(0, account);
    Ok(())
}
