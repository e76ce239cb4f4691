//! Pointers: memories that are named for the files of their work, without the evidence that would quote them.

use std::cmp::Reverse;

use super::RecallQuery;
use super::near_rows::{NearMemory, WORTH_OF_BEST};
use super::prompt_kind::named_files;
use super::prompt_question::{PROMPT_WORDS_MAX, PromptQuestion};
use super::recent_files::LastWork;
use super::session_memories::{memories_of, tells_of_file};
use super::work_files::WorkFiles;
use claude_mem_store::{Observation, RowId, RowKind, StoreError, StoreReader};

/// Maximum memories that are named beside the files of their work.
const POINTERS_MAX: usize = 2;

/// Share of a longer prompt's words that such a memory needs, as of many words some are shared by chance, or the
/// similarity in meaning from which it is about the same.
const POINTER_SHARE_MIN: f64 = 0.2;
const POINTER_COSINE_MIN: f64 = 0.4;

/// The memories that speak for the files of a request, and were not shown yet; else what was made of a turn that does.
/// None for a request that names its file: its place is known.
pub(super) fn select_pointers(
    ask: &RecallQuery<'_>,
    asking: &PromptQuestion,
    found: &[NearMemory],
    work: &WorkFiles,
) -> Vec<NearMemory> {
    if named_files(ask.prompt) > 0 {
        return Vec::new();
    }
    let is_long = asking.query.words.len() > PROMPT_WORDS_MAX;
    let share_min = if is_long { POINTER_SHARE_MIN } else { 0.0 };
    let speaks = |near: &&NearMemory| {
        work.sources.contains(&near.row.id)
            && !is_shown(ask, &near.row)
            && near.who.is_none()
            && (near.evidence.share >= share_min || near.evidence.cosine >= POINTER_COSINE_MIN)
    };
    let mut named: Vec<&NearMemory> = found.iter().filter(speaks).collect();
    if named.is_empty() && !is_long {
        let of_turn = work.of_turns.iter().find(|row| !is_shown(ask, row));
        return of_turn.cloned().map(NearMemory::pointer_to).into_iter().collect();
    }
    let best = named.iter().map(|near| near.evidence.worth).fold(0.0, f64::max);
    named.retain(|near| near.evidence.worth >= best * WORTH_OF_BEST);
    // Work goes on where it was left: of equal ones the newest.
    named.sort_by_key(|near| Reverse(near.row.created_at));
    named.into_iter().take(POINTERS_MAX).map(|near| NearMemory { is_pointer: true, ..near.clone() }).collect()
}

/// The newest change that the last work made and that was not shown yet.
pub(super) fn last_memory(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    last: &LastWork,
) -> Result<Option<NearMemory>, StoreError> {
    let tells =
        |row: &Observation| !is_shown(ask, row) && tells_of_file(row, |path| last.edits.contains(path));
    Ok(memories_of(reads, last.session)?.into_iter().find(tells).map(NearMemory::pointer_to))
}

/// Whether this agent was shown a memory of the last work.
pub(super) fn knows_work(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    last: &LastWork,
) -> Result<bool, StoreError> {
    Ok(memories_of(reads, last.session)?.iter().any(|row| is_shown(ask, row)))
}

fn is_shown(ask: &RecallQuery<'_>, row: &Observation) -> bool {
    ask.shown.contains(&RowId::new(RowKind::Observation, row.id.0))
}

#[cfg(test)]
#[path = "pointers_tests.rs"]
mod tests;
