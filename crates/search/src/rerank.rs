//! Reranks hits by what the score cannot know: rows that are wrong, superseded, raw text rather
//! than memories, or repeat a better row of the same turn.

use std::collections::{HashMap, HashSet};

use super::subject::{DecisionSubject, may_supersede};
use crate::rank::SearchHit;
use crate::request::ResultOrder;
use crate::resolve::ResolvedQuery;
use claude_mem_core::ids::{ObservationId, SessionId};
use claude_mem_core::memory::ObservationType;
use claude_mem_store::{RowId, RowKind, StoreError, StoreReader};

/// Factor for each better row of the same turn.
const REPEATED_TURN_FACTOR: f64 = 0.6;
/// Factor for prompts, messages and summaries of turns: an observation of the same relevance goes
/// before raw text. Lower factors lose more answers among the first five rows than they gain.
const RAW_TEXT_FACTOR: f64 = 0.75;
/// Factor for accounts: they repeat the words of their session's observations.
const ACCOUNT_FACTOR: f64 = 0.75;
/// Further factor for an account below a better row of its session.
const REPEATED_ACCOUNT_FACTOR: f64 = 0.8;
/// Factor for a superseded observation.
const REPLACED_FACTOR: f64 = 0.7;
/// A superseded observation passes on its session's best score if its own is at least this share of
/// it.
const SESSION_SHARE_MIN: f64 = 0.5;

/// Best hits examined for replacements and repeats.
const RERANKED_HITS_MAX: usize = 24;

/// Puts a lifted hit just above its equal.
const TIE_BREAK: f64 = 1e-6;

/// Drops observations marked as wrong and ranks superseded ones below their replacement. The
/// replacement inherits the rank its predecessor's session earned, so a query in the words of
/// the old rule finds the new one first.
pub(super) fn rerank(
    reads: &StoreReader<'_>,
    asked: &ResolvedQuery<'_>,
    mut hits: Vec<SearchHit>,
) -> Result<Vec<SearchHit>, StoreError> {
    if asked.admits_any_observation() {
        add_replacements(reads, &mut hits)?;
    }
    let ids: Vec<ObservationId> = hits
        .iter()
        .filter(|hit| hit.kind == RowKind::Observation)
        .map(|hit| ObservationId(hit.row_id))
        .collect();
    let verdicts = reads.observation_standings(&ids)?;
    let scores: HashMap<i64, f64> = hits
        .iter()
        .filter(|hit| hit.kind == RowKind::Observation)
        .map(|hit| (hit.row_id, hit.score))
        .collect();
    let mut newer = superseding_pairs(reads, &hits)?;
    for (id, verdict) in &verdicts {
        if let Some(by) = verdict.replaced_by {
            newer.push((*id, reads.current_replacement(by)?));
        }
    }
    let lifted = lifted_scores(&hits, &newer);
    let mut kept = Vec::with_capacity(hits.len());
    for mut hit in hits {
        let verdict = match hit.kind {
            RowKind::Observation => verdicts.get(&ObservationId(hit.row_id)),
            _ => None,
        };
        if let Some(score) = lifted.get(&hit.key()) {
            hit.set_score(hit.score.max(*score));
        }
        if let Some(verdict) = verdict {
            if verdict.wrong && !asked.request.include_wrong {
                continue;
            }
            if let Some(newer) = verdict.replaced_by {
                let below = scores.get(&newer.0).copied().unwrap_or(hit.score);
                hit.set_score(hit.score.min(below) * REPLACED_FACTOR);
            }
        }
        kept.push(hit);
    }
    kept.sort_by(|a, b| b.score.total_cmp(&a.score));
    demote_repeated_turns(reads, &mut kept)?;
    demote_raw_text(&mut kept);
    if asked.request.order != ResultOrder::Relevance {
        // Sorted by time, a row that is merely near would displace real matches.
        kept.retain(SearchHit::is_match);
        kept.sort_by_key(|hit| (hit.created_at, hit.kind, hit.row_id));
    }
    if asked.request.order == ResultOrder::NewestFirst {
        kept.reverse();
    }
    Ok(kept)
}

/// Adds the replacements of superseded hits, even if they share no word with the query.
fn add_replacements(reads: &StoreReader<'_>, hits: &mut Vec<SearchHit>) -> Result<(), StoreError> {
    let found = observation_ids(hits, RERANKED_HITS_MAX);
    let verdicts = reads.observation_standings(&found)?;
    let mut known: HashSet<i64> = observation_ids(hits, usize::MAX).into_iter().map(|id| id.0).collect();
    let mut more = Vec::new();
    for hit in hits.iter().filter(|hit| hit.kind == RowKind::Observation) {
        let verdict = verdicts.get(&ObservationId(hit.row_id));
        let Some(newer) = verdict.and_then(|verdict| verdict.replaced_by) else {
            continue;
        };
        let newer = reads.current_replacement(newer)?;
        if known.insert(newer.0) {
            let row = reads.observation(newer)?;
            more.push(SearchHit {
                row_id: newer.0,
                project: row.project,
                session: row.session,
                created_at: row.created_at,
                ..hit.clone()
            });
        }
    }
    hits.extend(more);
    Ok(())
}

/// Pairs (older, newer) of decisions about one subject, even if the newer one was never linked
/// as the replacement.
fn superseding_pairs(
    reads: &StoreReader<'_>,
    hits: &[SearchHit],
) -> Result<Vec<(ObservationId, ObservationId)>, StoreError> {
    let mut decisions = Vec::new();
    for id in observation_ids(hits, RERANKED_HITS_MAX) {
        let row = reads.observation(id)?;
        if row.text.kind == ObservationType::DECISION && !row.wrong && row.replaced_by.is_none() {
            let subject = DecisionSubject::from_observation(&row);
            decisions.push((row, subject));
        }
    }
    let mut pairs = Vec::new();
    for (older, of_older) in &decisions {
        for (newer, of_newer) in &decisions {
            if may_supersede(newer, older) && of_newer.is_same_subject(of_older) {
                pairs.push((older.id, newer.id));
            }
        }
    }
    Ok(pairs)
}

/// Demotes a prompt, summary or message below a better row of the same turn, and an account below a better
/// row of its session, whose content it repeats. Observations are never demoted.
fn demote_repeated_turns(reads: &StoreReader<'_>, hits: &mut [SearchHit]) -> Result<(), StoreError> {
    if hits.iter().all(|hit| hit.kind == RowKind::Observation) {
        return Ok(());
    }
    let mut told: HashMap<(SessionId, i64), i32> = HashMap::new();
    let mut sessions: HashSet<SessionId> = HashSet::new();
    for hit in hits.iter_mut().take(RERANKED_HITS_MAX) {
        let is_known_session = hit.session.is_some_and(|session| !sessions.insert(session));
        if is_known_session && hit.kind == RowKind::Account {
            hit.set_score(hit.score * REPEATED_ACCOUNT_FACTOR);
        }
        let turn = reads.prompt_number_of(hit.key())?;
        let (Some(session), Some(number)) = (hit.session, turn) else {
            continue;
        };
        let before = told.entry((session, number)).or_default();
        if *before > 0 && hit.kind != RowKind::Observation {
            hit.set_score(hit.score * REPEATED_TURN_FACTOR.powi(*before));
        }
        *before += 1;
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(())
}

/// Ranks observations before accounts, and both before prompts, messages and summaries of about the same
/// relevance.
fn demote_raw_text(hits: &mut [SearchHit]) {
    for hit in hits.iter_mut() {
        let factor = match hit.kind {
            RowKind::Observation => 1.0,
            RowKind::Account => ACCOUNT_FACTOR,
            RowKind::Summary | RowKind::Prompt | RowKind::Message => RAW_TEXT_FACTOR,
        };
        hit.set_score(hit.score * factor);
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
}

/// The ids of the first `most` observations among the hits.
fn observation_ids(hits: &[SearchHit], most: usize) -> Vec<ObservationId> {
    hits.iter()
        .filter(|hit| hit.kind == RowKind::Observation)
        .take(most)
        .map(|hit| ObservationId(hit.row_id))
        .collect()
}

/// The scores newer decisions inherit from the older ones they supersede.
fn lifted_scores(hits: &[SearchHit], newer: &[(ObservationId, ObservationId)]) -> HashMap<RowId, f64> {
    let mut lifted = HashMap::new();
    for (older, newer) in newer {
        let is_older = |hit: &&SearchHit| hit.kind == RowKind::Observation && hit.row_id == older.0;
        let Some(hit) = hits.iter().find(is_older) else {
            continue;
        };
        let of_session = hits.iter().filter(|other| other.session.is_some() && other.session == hit.session);
        let best = of_session.map(|other| other.score).fold(hit.score, f64::max);
        if hit.score >= best * SESSION_SHARE_MIN {
            let key = RowId::new(RowKind::Observation, newer.0);
            let score = lifted.entry(key).or_insert(0.0);
            *score = f64::max(*score, best + TIE_BREAK);
        }
    }
    lifted
}
