//! The candidates of a recall: memories near a prompt, and earlier prompts.

use std::collections::HashSet;

use super::evidence::MatchEvidence;
use crate::team_trust::OfferLimit;
use claude_mem_core::ids::{ObservationId, PromptId};
use claude_mem_store::Observation;

/// Number of candidates examined after the best one.
pub(super) const LOOKED_AT: usize = 24;

/// Minimum worth of a further memory, as a share of the best one's.
pub(super) const WORTH_OF_BEST: f64 = 0.6;

/// A memory and the part of the prompt that it contains.
#[derive(Clone, Debug)]
pub(super) struct NearMemory {
    pub row: Observation,
    pub score: f64,
    pub evidence: MatchEvidence,
    pub matched: Vec<String>,
    /// The rule that it replaces.
    pub replaces: Option<ObservationId>,
    /// A newer memory about the same subject, which is shown first.
    pub earlier_than: Option<ObservationId>,
    /// The newer memory restates most of it, so its own title is not quoted.
    pub taken_up: bool,
    /// The evidence is enough to name it beside the files of its work, not to quote it.
    pub is_pointer: bool,
    /// The name of the member who recorded it; `None`: one's own.
    pub who: Option<String>,
    pub limit: OfferLimit,
}

impl NearMemory {
    /// A memory that is named for the files of its work, whatever words it shares with the prompt.
    pub(super) fn pointer_to(row: Observation) -> Self {
        Self {
            row,
            score: 0.0,
            evidence: MatchEvidence::default(),
            matched: Vec::new(),
            replaces: None,
            earlier_than: None,
            taken_up: false,
            is_pointer: true,
            who: None,
            limit: OfferLimit::Free,
        }
    }
}

/// An earlier prompt and the part of the current one that it contains.
#[derive(Clone, Debug)]
pub(super) struct EarlierPrompt {
    pub id: PromptId,
    pub score: f64,
    pub matched: Vec<String>,
}

/// All candidates of one recall.
#[derive(Debug, Default)]
pub(super) struct NearRows {
    pub memories: Vec<NearMemory>,
    /// Set only if no memory is near enough, shown before or not.
    pub earlier_prompts: Vec<EarlierPrompt>,
    /// The files that earlier work on the subject of a request touched, best first.
    pub work_files: Vec<String>,
    /// Files that are not named: most sessions touch them.
    pub hub_files: HashSet<String>,
}
