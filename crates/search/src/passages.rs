//! Splits a row into the texts that are embedded: the whole row and its parts.

use claude_mem_core::ids::{AccountId, FinalMessageId, ObservationId, PromptId, SummaryId};
use claude_mem_store::{RowId, RowKind, StoreError, StoreReader, passages};

/// Maximum passage vectors of one row, besides the vector of its whole text. The rest of a longer
/// text has none.
const VECTOR_PARTS_MAX: usize = 24;

/// The whole text of a row, then its parts (title, passages, facts, fields). A row of one part
/// yields the whole only; an empty row yields nothing.
pub fn subdocuments(
    reads: &StoreReader<'_>,
    RowId { kind, row_id }: RowId,
) -> Result<Vec<String>, StoreError> {
    let texts: Vec<String> = match kind {
        RowKind::Observation => {
            let row = reads.observation(ObservationId(row_id))?;
            let mut texts = vec![row.title, row.subtitle, row.narrative];
            texts.extend(row.facts);
            texts
        }
        RowKind::Summary => {
            let row = reads.summary(SummaryId(row_id))?;
            vec![row.request, row.investigated, row.learned, row.completed, row.next_steps, row.notes]
        }
        RowKind::Account => {
            let row = reads.account(AccountId(row_id))?;
            let lists = row.sections().into_iter().flat_map(|(_, lines)| lines).cloned();
            std::iter::once(row.purpose.clone()).chain(lists).collect()
        }
        RowKind::Prompt => vec![reads.prompt(PromptId(row_id))?.text],
        RowKind::Message => vec![reads.final_message(FinalMessageId(row_id))?.text],
    };
    Ok(whole_and_parts(&texts))
}

fn whole_and_parts(texts: &[String]) -> Vec<String> {
    let parts: Vec<&str> = texts.iter().flat_map(|text| passages(text)).collect();
    let whole = parts.join(" ");
    if whole.is_empty() {
        return Vec::new();
    }
    if parts.len() == 1 {
        return vec![whole];
    }
    let parts = parts.into_iter().take(VECTOR_PARTS_MAX).map(str::to_owned);
    std::iter::once(whole).chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_row_comes_first_then_passages() {
        let long = "word ".repeat(200);
        let texts = ["A title".into(), String::new(), long, "A fact".into()];
        let got = whole_and_parts(&texts);
        assert_eq!(got.len(), 1 + 1 + 3 + 1);
        assert!(got[0].starts_with("A title word") && got[0].ends_with("A fact"));
        assert_eq!((got[1].as_str(), got[5].as_str()), ("A title", "A fact"));
    }

    #[test]
    fn parts_are_bounded_and_a_single_part_is_not_repeated() {
        assert_eq!(whole_and_parts(&["only this".into()]), ["only this"]);
        assert_eq!(whole_and_parts(&["  ".into()]), Vec::<String>::new());
        let endless = "word ".repeat(100_000);
        assert_eq!(whole_and_parts(&[endless]).len(), 1 + VECTOR_PARTS_MAX);
    }
}
