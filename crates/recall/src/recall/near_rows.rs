//! The rows that a look through memory brings.

use super::evidence::Evidence;
use crate::team_trust::OfferLimit;
use claude_mem_core::ids::{ObservationId, PromptId};
use claude_mem_store::Observation;

/// Rows looked at behind the best.
pub(super) const LOOKED_AT: usize = 24;

/// A memory and what of the prompt it holds.
#[derive(Clone, Debug)]
pub(super) struct Near {
    pub row: Observation,
    pub score: f64,
    pub evidence: Evidence,
    pub matched: Vec<String>,
    /// The rule that it stands in the place of.
    pub replaces: Option<ObservationId>,
    /// A newer one about the same subject, to be told first.
    pub earlier_than: Option<ObservationId>,
    /// That one takes up so much of it that its words are better not told beside.
    pub taken_up: bool,
    /// The name of the member who recorded it; `None`: one's own.
    pub who: Option<String>,
    pub limit: OfferLimit,
}

/// An earlier prompt, and what of this one it holds.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub id: PromptId,
    pub score: f64,
    pub matched: Vec<String>,
}

/// What a look through memory brings.
#[derive(Debug, Default)]
pub(super) struct Looked {
    pub memories: Vec<Near>,
    /// Only where no memory is near enough, told before or not.
    pub said: Vec<Said>,
}
