//! Rules, facts and causes that a prompt is near in meaning, also where the words differ: "can we
//! deploy at 2?" and "never deploy between 1 and 3".

use super::near_rows::NearMemory;
use claude_mem_core::memory::{ObservationType, Origin};
use claude_mem_store::{MemoryLevel, Observation};

/// Telling words of a prompt that is compared by meaning. A report of more words is near to much, and has
/// enough words to be compared by them.
pub(super) const PROMPT_WORDS_MAX: usize = 12;
/// Minimum similarity of a rule or fact that the user stated.
const STATED_MIN: f64 = 0.54;
/// Minimum similarity of what the agent found out.
const FOUND_OUT_MIN: f64 = 0.58;
/// What a shared telling word adds to the similarity, and how many of them count.
const SHARED_WORD: f64 = 0.12;
const SHARED_WORDS_MAX: f64 = 1.5;
/// A memory without any shared word must be this near by itself.
const UNSHARED_MIN: f64 = 0.6;
/// Rows within this distance are equally near.
const CROWD_WIDTH: f64 = 0.05;
/// Of more rows that are equally near none is meant in particular: it is what the project is about.
const CROWD_MAX: usize = 6;

/// Marks the memories that govern the prompt.
pub(super) fn mark_governing(found: &mut [NearMemory]) {
    let cosines: Vec<f64> = found.iter().map(|near| near.evidence.cosine).collect();
    for near in found {
        let own = near.evidence.cosine;
        let crowd = cosines.iter().filter(|other| **other >= own - CROWD_WIDTH).count();
        let Some(least) = least_similarity(&near.row).filter(|_| crowd <= CROWD_MAX) else {
            continue;
        };
        let shared = near.evidence.telling.min(SHARED_WORDS_MAX);
        near.evidence.governs =
            if shared > 0.0 { own + SHARED_WORD * shared >= least } else { own >= UNSHARED_MIN };
    }
}

/// `None`: what was done is no knowledge; it needs the prompt's own words.
fn least_similarity(row: &Observation) -> Option<f64> {
    let is_stated = matches!(row.origin, Origin::User | Origin::Manual) || row.level == MemoryLevel::User;
    let is_finding = [ObservationType::DECISION, ObservationType::DISCOVERY, ObservationType::BUGFIX];
    match row.origin {
        Origin::Tool | Origin::Web => None,
        _ if is_stated => Some(STATED_MIN),
        _ => is_finding.contains(&row.kind).then_some(FOUND_OUT_MIN),
    }
}
