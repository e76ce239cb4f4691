//! The memories that are about what a prompt is about, best first.

use std::collections::HashSet;

use super::evidence::EvidenceJudge;
use super::near_rows::{EarlierPrompt, LOOKED_AT, NearMemory, NearRows};
use super::{
    EvidenceThreshold, MEMORIES_MAX, PromptQuestion, RecallQuery, account, governing, newest, remedy,
};
use claude_mem_core::ids::{ObservationId, PromptId};
use claude_mem_search::candidates::collect_candidates;
use claude_mem_search::rank::rank_candidates;
use claude_mem_search::{RankingConfig, VectorRetriever};
use claude_mem_store::{RowFilter, RowId, RowKind, StoreError, StoreReader};

/// A project of three memories is all about what they are about; a prompt about it still is.
const IMAGINED_ROWS: f64 = 20.0;
/// A further memory must have this share of what the best has.
const WORTH_OF_BEST: f64 = 0.6;
/// Earlier prompts looked at.
const SAID_MAX: usize = 4;

pub(super) fn near(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    asking: &PromptQuestion,
    leg: Option<&mut VectorRetriever<'_>>,
) -> Result<NearRows, StoreError> {
    let (mut found, said) = candidates(reads, ask, asking, leg)?;
    if ask.bar == EvidenceThreshold::Failure {
        return Ok(NearRows { memories: remedy::remedies(ask, found), said: Vec::new() });
    }
    if asking.query.words.len() <= governing::PROMPT_WORDS_MAX {
        governing::mark_governing(&mut found);
    }
    if !found.iter().any(|near| ask.bar.clears(&near.evidence)) {
        let memories = Vec::new();
        return Ok(NearRows { memories, said });
    }
    // First, for a newer rule may share less with the prompt than the one whose place it takes.
    let mut found = newest::newest_first(reads, found)?;
    found.retain(|near| ask.bar.clears(&near.evidence));
    let worth = found.iter().map(|near| near.evidence.worth);
    let best = worth.fold(0.0, f64::max);
    found.retain(|near| near.evidence.governs || near.evidence.worth >= best * WORTH_OF_BEST);
    // What governs the prompt goes before what shares words with it.
    found.sort_by_key(|near| !near.evidence.governs);
    found.retain(|near| !ask.shown.contains(&RowId::new(RowKind::Observation, near.row.id.0)));
    account::goes_first(reads, ask, &mut found)?;
    found.truncate(MEMORIES_MAX);
    Ok(NearRows { memories: found, said: Vec::new() })
}

/// What ranks best, each with its evidence; what was replaced as what replaced it.
fn candidates(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    asking: &PromptQuestion,
    leg: Option<&mut VectorRetriever<'_>>,
) -> Result<(Vec<NearMemory>, Vec<EarlierPrompt>), StoreError> {
    let scope = RowFilter {
        project: Some(ask.project),
        user_level: true,
        kinds: vec![RowKind::Observation, RowKind::Prompt],
        ..RowFilter::default()
    };
    let ranking = RankingConfig { smoothing_docs: IMAGINED_ROWS, ..RankingConfig::default() };
    let gathered = collect_candidates(reads, &asking.query, &scope, None, leg, &ranking)?;
    let rows = reads.corpus(&scope)?.doc_count() + IMAGINED_ROWS as u64;
    let of_memory = EvidenceJudge::new(asking, &gathered, RowKind::Observation, rows);
    let of_prompt = EvidenceJudge::new(asking, &gathered, RowKind::Prompt, rows);
    let (mut found, mut said): (Vec<NearMemory>, Vec<EarlierPrompt>) = (Vec::new(), Vec::new());
    let mut taken = HashSet::new();
    for hit in rank_candidates(&gathered, &ranking) {
        let candidate = &gathered.rows[&RowId::new(hit.kind, hit.row_id)];
        if hit.kind == RowKind::Prompt {
            let own = candidate.document.session == ask.own;
            if !own && said.len() < SAID_MAX && of_prompt.measure(candidate).speaks_for_turn() {
                said.push(EarlierPrompt {
                    id: PromptId(hit.row_id),
                    score: hit.score,
                    matched: hit.parts.matched,
                });
            }
            continue;
        }
        if found.len() == LOOKED_AT {
            continue;
        }
        let id = ObservationId(hit.row_id);
        let row = reads.observation(reads.current_replacement(id)?)?;
        let old = (row.id != id).then_some(id);
        let own = row.session.is_some() && row.session == ask.own;
        // A replaced rule ranks below what it was replaced by, or brings it.
        if own || row.wrong || row.replaced_by.is_some() || !taken.insert(row.id) {
            continue;
        }
        found.push(NearMemory {
            evidence: of_memory.measure(candidate),
            row,
            score: hit.score,
            matched: hit.parts.matched,
            replaces: old,
            earlier_than: None,
            taken_up: false,
        });
    }
    Ok((found, said))
}
