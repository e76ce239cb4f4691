//! Retrieval for recall: the memories with enough evidence that they concern the prompt, best first.

use std::collections::HashSet;

use super::evidence::{EvidenceJudge, GoverningVerdict, MatchEvidence};
use super::governing_candidates::{governing_logits, likely_governing};
use super::near_rows::{EarlierPrompt, LOOKED_AT, NearMemory, NearRows, WORTH_OF_BEST};
use super::open_work::OpenWork;
use super::pointers::{knows_work, last_memory, select_pointers};
use super::prompt_kind::PromptKind;
use super::prompt_question::{PROMPT_WORDS_MAX, SELF_CONTAINED_WORDS};
use super::recent_files::RecentFiles;
use super::request_words::content_stems;
use super::work_files::{MatchedRow, TURNS_MAX, WorkFiles, find_work_files};
use super::{
    EvidenceThreshold, MEMORIES_MAX, PromptQuestion, RecallQuery, governing, newest, recap_first, remedy,
};
use crate::team_trust::{OfferLimit, OfferPlace, TeamMembers};
use claude_mem_core::ids::{ObservationId, PromptId};
use claude_mem_core::memory::{ObservationType, Origin};
use claude_mem_search::candidates::collect_candidates;
use claude_mem_search::rank::rank_candidates;
use claude_mem_search::{AllowedRows, RankingConfig, VectorRetriever};
use claude_mem_store::{Observation, RowFilter, RowId, RowKind, StoreError, StoreReader};

/// Documents added to the corpus size: in a project of three memories every word is frequent.
const SMOOTHING_ROWS: f64 = 20.0;
/// Maximum earlier prompts considered.
const EARLIER_PROMPTS_MAX: usize = 4;

/// The memories to show, or the earlier prompts if no memory is near enough.
pub(super) fn retrieve_memories(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    asking: &PromptQuestion,
    retriever: Option<&mut VectorRetriever<'_>>,
) -> Result<NearRows, StoreError> {
    let Candidates { memories: mut found, earlier_prompts, matched } =
        candidates(reads, ask, asking, retriever)?;
    found.retain(|near| near.limit != OfferLimit::Sparing || is_strong(near));
    if ask.threshold == EvidenceThreshold::Failure {
        return Ok(NearRows { memories: remedy::remedies(ask, found), ..NearRows::default() });
    }
    let kind = PromptKind::of_prompt(ask.prompt);
    if kind == PromptKind::HandOff {
        found.retain(|near| is_knowledge(&near.row) || near.evidence.surprise >= SAME_WORK_SURPRISE);
        found.retain(|near| tells_more_than(&near.row, &asking.content));
    }
    let recent = RecentFiles::load(reads, ask)?;
    let open_work = match OpenWork::of_prompt(ask.prompt) {
        Some(open) if kind == PromptKind::Request && is_short(asking) && !has_own_edits(reads, ask)? => {
            Some(open)
        }
        _ => None,
    };
    // Comments bring the same files each time.
    let open_work = match (open_work, recent.last_work()) {
        (Some(OpenWork::Reviewed), Some(last)) if knows_work(reads, ask, last)? => None,
        _ => open_work,
    };
    let work = match kind {
        PromptKind::Request => find_work_files(reads, ask, asking, &matched, &recent, open_work)?,
        PromptKind::Talk | PromptKind::HandOff => WorkFiles::default(),
    };
    let mut pointers = select_pointers(ask, asking, &found, &work);
    if let Some(last) = open_work.and(recent.last_work())
        && pointers.is_empty()
        && !work.paths.is_empty()
    {
        pointers.extend(last_memory(reads, ask, last)?);
    }
    if asking.query.words.len() <= PROMPT_WORDS_MAX {
        governing::mark_governing(&mut found, ask.prompt);
    }
    // A rule of another member does not govern one's own prompts.
    found.iter_mut().filter(|near| near.who.is_some()).for_each(|near| {
        if near.evidence.governs() {
            near.evidence.verdict = GoverningVerdict::Undecided;
        }
    });
    if !found.iter().any(|near| ask.threshold.clears(&near.evidence)) {
        if !pointers.is_empty() {
            return Ok(NearRows {
                memories: pointers,
                work_files: work.paths,
                hub_files: recent.hubs(),
                ..NearRows::default()
            });
        }
        let earlier_prompts = if kind == PromptKind::HandOff { Vec::new() } else { earlier_prompts };
        return Ok(NearRows { earlier_prompts, ..NearRows::default() });
    }
    // Before the threshold: a newer rule may share less with the prompt than the one it replaces.
    let mut found = newest::newest_first(reads, found)?;
    found.retain(|near| ask.threshold.clears(&near.evidence));
    // Own memories, if there are any, set the worth that further ones need.
    let has_own = found.iter().any(|near| near.who.is_none());
    let measured = found.iter().filter(|near| near.who.is_none() || !has_own);
    let best = measured.map(|near| near.evidence.worth).fold(0.0, f64::max);
    found.retain(|near| near.evidence.governs() || near.evidence.worth >= best * WORTH_OF_BEST);
    // Stated rules that govern the prompt come before memories that share words with it.
    let is_governing_rule = |near: &NearMemory| near.evidence.governs() && governing::is_stated(&near.row);
    found.sort_by_key(|near| (near.limit == OfferLimit::Sparing, !is_governing_rule(near)));
    found.retain(|near| !ask.shown.contains(&RowId::new(RowKind::Observation, near.row.id.0)));
    recap_first::promote_recap(reads, ask, &mut found)?;
    keep_one_sparing(&mut found);
    found.truncate(MEMORIES_MAX);
    if found.is_empty() {
        found = pointers;
    }
    Ok(NearRows { memories: found, work_files: work.paths, hub_files: recent.hubs(), ..NearRows::default() })
}

fn is_short(asking: &PromptQuestion) -> bool {
    asking.query.words.len() < SELF_CONTAINED_WORDS
}

/// Whether this session has edited files: then its agent knows what the open work is.
fn has_own_edits(reads: &StoreReader<'_>, ask: &RecallQuery<'_>) -> Result<bool, StoreError> {
    let edited = ask.own.map(|own| reads.files_edited_in(own, 1)).transpose()?;
    Ok(edited.is_some_and(|(_, count)| count > 0))
}

/// Surprise from which a change is about the very work that a plan describes.
const SAME_WORK_SURPRISE: f64 = 4.0;

/// What a plan may have missed: a rule, a choice or a finding, as opposed to a change that stands in the code.
fn is_knowledge(row: &Observation) -> bool {
    let is_stated = matches!(row.origin, Origin::User | Origin::Manual);
    is_stated || [ObservationType::DECISION, ObservationType::DISCOVERY].contains(&row.text.kind)
}

/// Share of a memory's words that a plan must not have. The plan may come from the conversation that the memory does.
const NEW_WORDS_MIN: f64 = 0.25;

/// Whether a memory says more than a plan that has these words.
fn tells_more_than(row: &Observation, said: &HashSet<String>) -> bool {
    let told = content_stems(&format!("{} {}", row.text.title, row.text.narrative));
    let new = told.iter().filter(|word| !said.contains(*word)).count();
    new as f64 >= NEW_WORDS_MIN * told.len() as f64
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
        verdict: GoverningVerdict::Undecided,
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
) -> Result<Candidates, StoreError> {
    let members = TeamMembers::load(reads)?;
    if members.is_empty() {
        return candidates_among(reads, ask, asking, retriever, &members, None);
    }
    let own = AllowedRows::without_members(reads, &members.ids())?;
    let mut all = candidates_among(reads, ask, asking, retriever.as_deref_mut(), &members, Some(&own))?;
    let others = candidates_among(reads, ask, asking, retriever, &members, None)?.memories;
    all.memories.extend(others.into_iter().filter(|near| near.row.member.is_some()).take(OTHERS_LOOKED_AT));
    all.memories.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(all)
}

/// The best-ranked rows of one recall.
struct Candidates {
    memories: Vec<NearMemory>,
    earlier_prompts: Vec<EarlierPrompt>,
    /// The rows of other sessions that share most with the prompt.
    matched: Vec<MatchedRow>,
}

/// Maximum memories of other members that are considered.
const OTHERS_LOOKED_AT: usize = 6;

fn candidates_among(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    asking: &PromptQuestion,
    mut retriever: Option<&mut VectorRetriever<'_>>,
    members: &TeamMembers,
    allowed: Option<&AllowedRows>,
) -> Result<Candidates, StoreError> {
    let scope = RowFilter {
        project: Some(ask.project),
        user_level: true,
        kinds: vec![RowKind::Observation, RowKind::Prompt],
        // How far the worker is with the session's own turns must not change what is told.
        except_session: ask.own,
        ..RowFilter::default()
    };
    let ranking = RankingConfig { smoothing_docs: SMOOTHING_ROWS, ..RankingConfig::default() };
    let gathered =
        collect_candidates(reads, &asking.query, &scope, allowed, retriever.as_deref_mut(), &ranking)?;
    let may_govern =
        ask.threshold == EvidenceThreshold::Prompt && asking.query.words.len() <= PROMPT_WORDS_MAX;
    let logits = governing_logits(&gathered, retriever.as_deref().filter(|_| may_govern))?;
    let likely = likely_governing(&logits);
    let rows = reads.corpus(&scope)?.doc_count() + SMOOTHING_ROWS as u64;
    let place =
        if ask.threshold == EvidenceThreshold::Failure { OfferPlace::Failure } else { OfferPlace::Prompt };
    let of_memory = EvidenceJudge::new(asking, &gathered, RowKind::Observation, rows);
    let of_prompt = EvidenceJudge::new(asking, &gathered, RowKind::Prompt, rows);
    let (mut found, mut said): (Vec<NearMemory>, Vec<EarlierPrompt>) = (Vec::new(), Vec::new());
    let mut taken = HashSet::new();
    let mut matched = Vec::new();
    for hit in rank_candidates(&gathered, &ranking) {
        let row_id = RowId::new(hit.kind, hit.row_id);
        let candidate = &gathered.rows[&row_id];
        if matched.len() < TURNS_MAX
            && candidate.document.session.is_some()
            && candidate.document.session != ask.own
        {
            let of_kind = if hit.kind == RowKind::Prompt { &of_prompt } else { &of_memory };
            matched.push(MatchedRow {
                row: row_id,
                worth: of_kind.measure(candidate).worth,
                cosine: candidate.cosine,
            });
        }
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
        if found.len() >= LOOKED_AT && !likely.contains(&row_id) {
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
            evidence: MatchEvidence {
                governing: logits.get(&row_id).copied(),
                ..of_memory.measure(candidate)
            },
            row,
            score: hit.score,
            matched: hit.parts.matched,
            replaces: old,
            earlier_than: None,
            taken_up: false,
            is_pointer: false,
            who: members.name(row_member),
            limit,
        });
    }
    Ok(Candidates { memories: found, earlier_prompts: said, matched })
}
