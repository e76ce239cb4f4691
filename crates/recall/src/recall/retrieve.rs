//! Retrieval for recall: the memories with enough evidence that they concern the prompt, best first.

use std::collections::HashSet;

use super::evidence::{EvidenceJudge, MatchEvidence};
use super::near_rows::{EarlierPrompt, LOOKED_AT, NearMemory, NearRows};
use super::prompt_question::PROMPT_WORDS_MAX;
use super::{
    EvidenceThreshold, MEMORIES_MAX, PromptQuestion, RecallQuery, governing, newest, recap_first, remedy,
};
use crate::team_trust::{OfferLimit, OfferPlace, TeamMembers};
use claude_mem_core::ids::{ObservationId, PromptId};
use claude_mem_search::candidates::collect_candidates;
use claude_mem_search::rank::rank_candidates;
use claude_mem_search::{AllowedRows, RankingConfig, VectorRetriever};
use claude_mem_store::{RowFilter, RowId, RowKind, StoreError, StoreReader};

/// Documents added to the corpus size: in a project of three memories every word is frequent.
const SMOOTHING_ROWS: f64 = 20.0;
/// Minimum worth of a further memory, as a share of the best one's.
const WORTH_OF_BEST: f64 = 0.6;
/// Maximum earlier prompts considered.
const EARLIER_PROMPTS_MAX: usize = 4;

/// The memories to show, or the earlier prompts if no memory is near enough.
pub(super) fn retrieve_memories(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    asking: &PromptQuestion,
    retriever: Option<&mut VectorRetriever<'_>>,
) -> Result<NearRows, StoreError> {
    let (mut found, earlier_prompts) = candidates(reads, ask, asking, retriever)?;
    found.retain(|near| near.limit != OfferLimit::Sparing || is_strong(near));
    if ask.threshold == EvidenceThreshold::Failure {
        return Ok(NearRows { memories: remedy::remedies(ask, found), earlier_prompts: Vec::new() });
    }
    if asking.query.words.len() <= PROMPT_WORDS_MAX {
        governing::mark_governing(&mut found);
    }
    // A rule of another member does not govern one's own prompts.
    found.iter_mut().filter(|near| near.who.is_some()).for_each(|near| near.evidence.governs = false);
    if !found.iter().any(|near| ask.threshold.clears(&near.evidence)) {
        let memories = Vec::new();
        return Ok(NearRows { memories, earlier_prompts });
    }
    // Before the threshold: a newer rule may share less with the prompt than the one it replaces.
    let mut found = newest::newest_first(reads, found)?;
    found.retain(|near| ask.threshold.clears(&near.evidence));
    // Own memories, if there are any, set the worth that further ones need.
    let has_own = found.iter().any(|near| near.who.is_none());
    let measured = found.iter().filter(|near| near.who.is_none() || !has_own);
    let best = measured.map(|near| near.evidence.worth).fold(0.0, f64::max);
    found.retain(|near| near.evidence.governs || near.evidence.worth >= best * WORTH_OF_BEST);
    // Rules that govern the prompt come before memories that share words with it.
    found.sort_by_key(|near| (near.limit == OfferLimit::Sparing, !near.evidence.governs));
    found.retain(|near| !ask.shown.contains(&RowId::new(RowKind::Observation, near.row.id.0)));
    recap_first::promote_recap(reads, ask, &mut found)?;
    keep_one_sparing(&mut found);
    found.truncate(MEMORIES_MAX);
    Ok(NearRows { memories: found, earlier_prompts: Vec::new() })
}

/// Factor by which the evidence for another member's memory must exceed that for one's own.
const STRONG_FACTOR: f64 = 1.5;

/// Whether the evidence holds for a member who is not specially trusted.
fn is_strong(near: &NearMemory) -> bool {
    let evidence = &near.evidence;
    let less = MatchEvidence {
        surprise: evidence.surprise / STRONG_FACTOR,
        telling: evidence.telling / STRONG_FACTOR,
        besides: evidence.besides / STRONG_FACTOR,
        governs: false,
        ..evidence.clone()
    };
    EvidenceThreshold::Prompt.clears(&less)
}

/// Keeps only the best memory of members who are not specially trusted.
fn keep_one_sparing(found: &mut Vec<NearMemory>) {
    let mut sparing = 0;
    found.retain(|near| {
        sparing += usize::from(near.limit == OfferLimit::Sparing);
        near.limit != OfferLimit::Sparing || sparing <= 1
    });
}

/// The best-ranked memories with their evidence; a replaced one is given as its replacement. Other members'
/// memories are retrieved separately, so that they cannot displace one's own.
fn candidates(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    asking: &PromptQuestion,
    mut retriever: Option<&mut VectorRetriever<'_>>,
) -> Result<(Vec<NearMemory>, Vec<EarlierPrompt>), StoreError> {
    let members = TeamMembers::load(reads)?;
    if members.is_empty() {
        return candidates_among(reads, ask, asking, retriever, &members, None);
    }
    let own = AllowedRows::without_members(reads, &members.ids())?;
    let (mut found, said) =
        candidates_among(reads, ask, asking, retriever.as_deref_mut(), &members, Some(&own))?;
    let (others, _) = candidates_among(reads, ask, asking, retriever, &members, None)?;
    found.extend(others.into_iter().filter(|near| near.row.member.is_some()).take(OTHERS_LOOKED_AT));
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok((found, said))
}

/// Maximum memories of other members that are considered.
const OTHERS_LOOKED_AT: usize = 6;

fn candidates_among(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    asking: &PromptQuestion,
    retriever: Option<&mut VectorRetriever<'_>>,
    members: &TeamMembers,
    allowed: Option<&AllowedRows>,
) -> Result<(Vec<NearMemory>, Vec<EarlierPrompt>), StoreError> {
    let scope = RowFilter {
        project: Some(ask.project),
        user_level: true,
        kinds: vec![RowKind::Observation, RowKind::Prompt],
        ..RowFilter::default()
    };
    let ranking = RankingConfig { smoothing_docs: SMOOTHING_ROWS, ..RankingConfig::default() };
    let gathered = collect_candidates(reads, &asking.query, &scope, allowed, retriever, &ranking)?;
    let rows = reads.corpus(&scope)?.doc_count() + SMOOTHING_ROWS as u64;
    let place =
        if ask.threshold == EvidenceThreshold::Failure { OfferPlace::Failure } else { OfferPlace::Prompt };
    let of_memory = EvidenceJudge::new(asking, &gathered, RowKind::Observation, rows);
    let of_prompt = EvidenceJudge::new(asking, &gathered, RowKind::Prompt, rows);
    let (mut found, mut said): (Vec<NearMemory>, Vec<EarlierPrompt>) = (Vec::new(), Vec::new());
    let mut taken = HashSet::new();
    for hit in rank_candidates(&gathered, &ranking) {
        let candidate = &gathered.rows[&RowId::new(hit.kind, hit.row_id)];
        if hit.kind == RowKind::Prompt {
            let own = candidate.document.session == ask.own;
            if !own && said.len() < EARLIER_PROMPTS_MAX && of_prompt.measure(candidate).speaks_for_turn() {
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
        // A replaced rule stands for its replacement, which may have been ranked before it.
        if own || row.wrong || row.replaced_by.is_some() || !taken.insert(row.id) {
            continue;
        }
        let limit = members.limit_of(&row, place);
        if limit == OfferLimit::Never {
            continue;
        }
        let row_member = row.member;
        found.push(NearMemory {
            evidence: of_memory.measure(candidate),
            row,
            score: hit.score,
            matched: hit.parts.matched,
            replaces: old,
            earlier_than: None,
            taken_up: false,
            who: members.name(row_member),
            limit,
        });
    }
    Ok((found, said))
}
