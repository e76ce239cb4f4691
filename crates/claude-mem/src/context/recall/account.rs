//! The account of a talk that settled much goes before any part of it.

use super::Ask;
use super::near::{LOOKED_AT, Near};
use crate::context::recap;
use crate::memory::ObservationType;
use crate::search::subject::words_of;
use crate::store::{Filter, Page, Reads, RowKind, StoreError};

/// Where the best comes from a talk that summed up what it settled, that goes first.
pub(super) fn goes_first(
    reads: &Reads<'_>,
    ask: &Ask<'_>,
    found: &mut Vec<Near>,
) -> Result<(), StoreError> {
    let Some(best) = found.first() else {
        return Ok(());
    };
    if best.row.session.is_none() || best.row.kind != ObservationType::DECISION {
        return Ok(());
    }
    let talk = Filter {
        session: best.row.session,
        types: vec![ObservationType::DECISION],
        ..Filter::default()
    };
    let page = Page::first(LOOKED_AT as u32);
    let mut settled = reads.observations(&talk, page)?.items;
    settled.retain(|row| !row.wrong && row.replaced_by.is_none());
    let said: Vec<_> = settled.iter().map(words_of).collect();
    let Some(account) = recap::of(&said).map(|at| settled.swap_remove(at)) else {
        return Ok(());
    };
    if account.id == best.row.id || ask.shown.contains(&(RowKind::Observation, account.id.0)) {
        return Ok(());
    }
    let account = Near {
        row: account,
        ..best.clone()
    };
    found.retain(|near| near.row.id != account.row.id);
    found.insert(0, account);
    Ok(())
}
