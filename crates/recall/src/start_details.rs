//! Uses what is left of the budget: where all rows are told, the most valuable ones get a sentence of their
//! text.

use super::item_selection::SelectedItems;
use super::quote;
use super::sentences::sentences;
use claude_mem_core::ids::ObservationId;
use claude_mem_core::tokens;
use claude_mem_search::subject::content_words;
use claude_mem_store::{Observation, RowKind, StoreError, StoreReader};

/// Characters of the sentence below a title.
const DETAIL_CHARS_MAX: usize = 180;
/// Rows whose text is read.
const DETAILED_ROWS_MAX: usize = 16;

/// Adds sentences within `left_tokens`, to the most valuable rows first.
pub(super) fn add_details(
    reads: &StoreReader<'_>,
    chosen: &mut SelectedItems,
    mut left_tokens: u32,
) -> Result<(), StoreError> {
    if chosen.left_out > 0 {
        return Ok(());
    }
    let mut order: Vec<usize> = (0..chosen.items.len()).collect();
    order.retain(|at| chosen.items[*at].row.kind == RowKind::Observation);
    order.sort_by(|a, b| chosen.items[*b].value.total_cmp(&chosen.items[*a].value));
    for at in order.into_iter().take(DETAILED_ROWS_MAX) {
        let item = &mut chosen.items[at];
        let row = reads.observation(ObservationId(item.row.row_id))?;
        let Some(sentence) = telling_sentence(&row) else { continue };
        let detail = quote::line(sentence, DETAIL_CHARS_MAX);
        let cost = tokens::estimate(&detail) + 2;
        if cost <= left_tokens {
            left_tokens -= cost;
            item.detail = detail;
        }
    }
    Ok(())
}

/// The first sentence that says something beside the title.
pub(super) fn telling_sentence(row: &Observation) -> Option<&str> {
    let title = content_words(std::iter::once(row.text.title.as_str()));
    std::iter::once(&row.text.narrative).chain(&row.text.facts).flat_map(|text| sentences(text)).find(
        |sentence| {
            let words = content_words(std::iter::once(*sentence));
            words.len() > 2 && words.difference(&title).count() * 2 >= words.len()
        },
    )
}
