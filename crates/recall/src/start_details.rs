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

/// The first sentence that says something beside the title, without the title if it begins with it.
pub(super) fn telling_sentence(row: &Observation) -> Option<&str> {
    let title = row.text.title.trim_end_matches('.');
    let known = content_words(std::iter::once(title));
    let all = std::iter::once(&row.text.narrative).chain(&row.text.facts).flat_map(|text| sentences(text));
    all.map(|sentence| without_title(sentence, title)).find(|sentence| {
        let words = content_words(std::iter::once(*sentence));
        words.len() > 2 && words.difference(&known).count() * 2 >= words.len()
    })
}

/// The rest of a sentence after the title and a mark of punctuation.
fn without_title<'s>(sentence: &'s str, title: &str) -> &'s str {
    let marks = [',', ';', ':', '—', '–', '-'];
    let rest = sentence.strip_prefix(title).map(str::trim_start).filter(|_| !title.is_empty());
    rest.and_then(|rest| rest.strip_prefix(marks)).map_or(sentence, str::trim_start)
}

#[cfg(test)]
mod tests {
    use super::without_title;

    #[test]
    fn title_is_not_repeated_by_its_sentence() {
        for (sentence, want) in [
            ("The lease is lost — the clock jumps at night", "the clock jumps at night"),
            ("The lease is lost: nobody renews it.", "nobody renews it."),
            ("The lease is lost when the clock jumps.", "The lease is lost when the clock jumps."),
            ("Another sentence.", "Another sentence."),
        ] {
            assert_eq!(without_title(sentence, "The lease is lost"), want);
        }
    }
}
