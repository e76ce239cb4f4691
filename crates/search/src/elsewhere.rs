//! Names rows of other projects that contain every word of a query which no row of the requested
//! project contains in full.

use crate::analyzer::is_stop_word;
use crate::rank::SearchHit;
use crate::request::ProjectScope;
use crate::resolve::ResolvedQuery;
use claude_mem_core::ids::ObservationId;
use claude_mem_store::{FtsQuery, RowFilter, RowId, RowKind, StoreError, StoreReader};

/// Queries of more words are descriptions; no row contains all of them.
const WORDS_MAX: usize = 8;
/// Documents read in other projects.
const DOCUMENTS_MAX: u32 = 16;
/// Rows named in the note.
const NAMED_MAX: usize = 3;
/// A row with this share of the query's weight contains every word of it.
const WHOLE: f64 = 0.999;

/// One note per row, best project first: "exact match in bakery: #4 Ovens are preheated at five".
pub(crate) fn exact_matches_elsewhere(
    reads: &StoreReader<'_>,
    asked: &ResolvedQuery<'_>,
    hits: &[SearchHit],
) -> Result<Vec<String>, StoreError> {
    let ProjectScope::ProjectFirst(own) = asked.project_scope else {
        return Ok(Vec::new());
    };
    let words: Vec<&String> = asked.query.words.iter().filter(|word| !is_stop_word(word)).collect();
    let is_answered = hits.iter().any(|hit| hit.parts.share >= WHOLE);
    if is_answered || words.is_empty() || words.len() > WORDS_MAX || asked.request.page.offset > 0 {
        return Ok(Vec::new());
    }
    let every_word = FtsQuery::And(words.into_iter().map(|word| FtsQuery::Term(word.clone())).collect());
    let everywhere = reads.corpus(&RowFilter::default())?.doc_id_ranges();
    let mut found = Vec::new();
    reads.for_each_match(&every_word, &everywhere, DOCUMENTS_MAX, |place| found.push(place))?;
    let mut notes = Vec::new();
    for place in found {
        let Some(document) = reads.document_by_id(place)? else { continue };
        let is_memory = matches!(document.kind, RowKind::Observation | RowKind::Summary | RowKind::Account);
        let Some(other) = document.project.filter(|project| is_memory && *project != own) else {
            continue;
        };
        let id = ObservationId(document.row_id);
        let is_wrong = document.kind == RowKind::Observation && reads.observation(id)?.wrong;
        let Some(name) = reads.project_name(other)?.filter(|_| !is_wrong) else { continue };
        let row = RowId::new(document.kind, document.row_id);
        let title = document.title.lines().next().unwrap_or_default();
        notes.push(format!("exact match in {name}: {row} {title}"));
        if notes.len() == NAMED_MAX {
            break;
        }
    }
    Ok(notes)
}
