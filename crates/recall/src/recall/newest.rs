//! Rules about one subject: the newer one comes first, and the older one is not shown as valid.
//!
//! People revise a rule in any words, so the subject decides. A memory that is marked as an amendment needs less
//! overlap.

use std::collections::{HashMap, HashSet};

use super::near_rows::NearMemory;
use claude_mem_core::ids::{ObservationId, SessionId};
use claude_mem_core::memory::ObservationType;
use claude_mem_core::vocabulary::AMENDMENT;
use claude_mem_search::subject::{AMENDED_PERCENT_MIN, DecisionSubject, may_supersede};
use claude_mem_store::{StoreError, StoreReader};

/// Percentage of restated words from which the newer rule contains the older one.
const RESTATED_PERCENT_MIN: usize = 60;
/// Percentage of restated words from which the older rule's title is not quoted.
const TAKEN_UP_PERCENT_MIN: usize = 25;

/// Orders older rules behind newer ones about the same subject; drops those that the newer one contains.
pub(super) fn newest_first(
    reads: &StoreReader<'_>,
    mut found: Vec<NearMemory>,
) -> Result<Vec<NearMemory>, StoreError> {
    let subjects: Vec<DecisionSubject> =
        found.iter().map(|near| DecisionSubject::from_observation(&near.row)).collect();
    let mut left_out = HashSet::new();
    let mut overruled = sessions_with_replaced_rules(reads, &found)?;
    for older in 0..found.len() {
        for newer in 0..found.len() {
            if !may_supersede(&found[newer].row, &found[older].row)
                || !subjects[newer].is_same_subject(&subjects[older])
            {
                continue;
            }
            let restated = subjects[newer].restated_percent(&subjects[older]);
            let amends = found[newer].row.text.concepts.iter().any(|name| name == AMENDMENT);
            let least = if amends { AMENDED_PERCENT_MIN } else { RESTATED_PERCENT_MIN };
            if restated >= least {
                left_out.insert(older);
            }
            if let Some(session) = found[older].row.session {
                let by = found[newer].row.id;
                overruled.entry(session).or_insert(by);
            }
            found[older].earlier_than = Some(found[newer].row.id);
            found[older].taken_up |= restated >= TAKEN_UP_PERCENT_MIN;
            take_over(&mut found, newer, older);
        }
    }
    for near in &mut found {
        let of_session = near.row.session.and_then(|session| overruled.get(&session));
        if let Some(&newer) = of_session.filter(|_| near.row.text.kind == ObservationType::DECISION) {
            near.earlier_than.get_or_insert(newer);
        }
    }
    let mut at = 0;
    found.retain(|_| {
        at += 1;
        !left_out.contains(&(at - 1))
    });
    order_behind_newer(&mut found);
    Ok(found)
}

/// Sessions of which a rule was replaced, with the replacement: their other decisions are older than it, too.
fn sessions_with_replaced_rules(
    reads: &StoreReader<'_>,
    found: &[NearMemory],
) -> Result<HashMap<SessionId, ObservationId>, StoreError> {
    let mut overruled = HashMap::new();
    for near in found {
        if let Some(old) = near.replaces {
            let session = reads.observation(old)?.session;
            if let Some(session) = session.filter(|session| Some(*session) != near.row.session) {
                overruled.insert(session, near.row.id);
            }
        }
    }
    Ok(overruled)
}

/// Gives the newer rule at least the score and evidence of the older one.
fn take_over(found: &mut [NearMemory], newer: usize, older: usize) {
    let (score, evidence) = (found[older].score, found[older].evidence.clone());
    let near = &mut found[newer];
    near.score = near.score.max(score);
    let name = near.evidence.name.max(evidence.name);
    if evidence.worth > near.evidence.worth {
        near.evidence = evidence;
    }
    near.evidence.name = name;
}

/// Sorts by score, with every older rule behind its newer one.
fn order_behind_newer(found: &mut [NearMemory]) {
    for _ in 0..found.len() {
        for at in 0..found.len() {
            let newer = found[at].earlier_than;
            let newer = newer.and_then(|id| found.iter().find(|near| near.row.id == id));
            if let Some(score) = newer.map(|near| near.score) {
                found[at].score = found[at].score.min(score - 1e-6);
            }
        }
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
}
