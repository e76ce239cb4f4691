//! The memories that are about what a prompt is about, best first.

use std::collections::HashSet;

use super::evidence::{EvidenceJudge, MatchEvidence};
use super::near_rows::{EarlierPrompt, LOOKED_AT, NearMemory, NearRows};
use super::prompt_question::PROMPT_WORDS_MAX;
use super::{
    EvidenceThreshold, MEMORIES_MAX, PromptQuestion, RecallQuery, account, governing, newest, remedy,
};
use crate::team_trust::{OfferLimit, OfferPlace, TeamMembers};
use claude_mem_core::ids::{ObservationId, PromptId};
use claude_mem_search::candidates::collect_candidates;
use claude_mem_search::rank::rank_candidates;
use claude_mem_search::{AllowedRows, RankingConfig, VectorRetriever};
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
    found.retain(|near| near.limit != OfferLimit::Sparing || is_strong(near));
    if ask.bar == EvidenceThreshold::Failure {
        return Ok(NearRows { memories: remedy::remedies(ask, found), said: Vec::new() });
    }
    if asking.query.words.len() <= PROMPT_WORDS_MAX {
        governing::mark_governing(&mut found);
    }
    // A rule of another member does not govern one's own prompts.
    found.iter_mut().filter(|near| near.who.is_some()).for_each(|near| near.evidence.governs = false);
    if !found.iter().any(|near| ask.bar.clears(&near.evidence)) {
        let memories = Vec::new();
        return Ok(NearRows { memories, said });
    }
    // First, for a newer rule may share less with the prompt than the one whose place it takes.
    let mut found = newest::newest_first(reads, found)?;
    found.retain(|near| ask.bar.clears(&near.evidence));
    // What one knows oneself is the measure, as far as there is any.
    let has_own = found.iter().any(|near| near.who.is_none());
    let measured = found.iter().filter(|near| near.who.is_none() || !has_own);
    let best = measured.map(|near| near.evidence.worth).fold(0.0, f64::max);
    found.retain(|near| near.evidence.governs || near.evidence.worth >= best * WORTH_OF_BEST);
    // What governs the prompt goes before what shares words with it.
    found.sort_by_key(|near| (near.limit == OfferLimit::Sparing, !near.evidence.governs));
    found.retain(|near| !ask.shown.contains(&RowId::new(RowKind::Observation, near.row.id.0)));
    account::goes_first(reads, ask, &mut found)?;
    keep_one_sparing(&mut found);
    found.truncate(MEMORIES_MAX);
    Ok(NearRows { memories: found, said: Vec::new() })
}

/// How much more the words of another member's memory must tell than those of one's own.
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

/// Of members who are not specially trusted, the best memory only.
fn keep_one_sparing(found: &mut Vec<NearMemory>) {
    let mut sparing = 0;
    found.retain(|near| {
        sparing += usize::from(near.limit == OfferLimit::Sparing);
        near.limit != OfferLimit::Sparing || sparing <= 1
    });
}

/// What ranks best, each with its evidence; what was replaced as what replaced it. Memories of other members
/// are looked for by themselves, so that no number of them takes the place of one's own.
fn candidates(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    asking: &PromptQuestion,
    mut leg: Option<&mut VectorRetriever<'_>>,
) -> Result<(Vec<NearMemory>, Vec<EarlierPrompt>), StoreError> {
    let members = TeamMembers::load(reads)?;
    if members.is_empty() {
        return candidates_among(reads, ask, asking, leg, &members, None);
    }
    let own = AllowedRows::without_members(reads, &members.ids())?;
    let (mut found, said) = candidates_among(reads, ask, asking, leg.as_deref_mut(), &members, Some(&own))?;
    let (others, _) = candidates_among(reads, ask, asking, leg, &members, None)?;
    found.extend(others.into_iter().filter(|near| near.row.member.is_some()).take(OTHERS_LOOKED_AT));
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok((found, said))
}

/// Memories of other members that are looked at.
const OTHERS_LOOKED_AT: usize = 6;

fn candidates_among(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    asking: &PromptQuestion,
    leg: Option<&mut VectorRetriever<'_>>,
    members: &TeamMembers,
    allowed: Option<&AllowedRows>,
) -> Result<(Vec<NearMemory>, Vec<EarlierPrompt>), StoreError> {
    let scope = RowFilter {
        project: Some(ask.project),
        user_level: true,
        kinds: vec![RowKind::Observation, RowKind::Prompt],
        ..RowFilter::default()
    };
    let ranking = RankingConfig { smoothing_docs: IMAGINED_ROWS, ..RankingConfig::default() };
    let gathered = collect_candidates(reads, &asking.query, &scope, allowed, leg, &ranking)?;
    let rows = reads.corpus(&scope)?.doc_count() + IMAGINED_ROWS as u64;
    let place = if ask.bar == EvidenceThreshold::Failure { OfferPlace::Failure } else { OfferPlace::Prompt };
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
