//! The query of a recall and its result.

use std::collections::HashSet;

use jiff::tz::TimeZone;

use super::evidence::EvidenceThreshold;
use claude_mem_core::ids::{ProjectId, SessionId};
use claude_mem_store::RowId;
use claude_mem_store::RowKind;

/// Maximum number of memories recalled at one prompt.
pub const MEMORIES_MAX: usize = 3;

/// What to recall, for which session and within which budget.
#[derive(Debug)]
pub struct RecallQuery<'a> {
    pub project: ProjectId,
    /// The session itself, whose own memories are left out.
    pub own: Option<SessionId>,
    pub prompt: &'a str,
    /// Memories that this agent was shown before.
    pub shown: &'a HashSet<RowId>,
    pub budget_tokens: u32,
    pub zone: &'a TimeZone,
    pub threshold: EvidenceThreshold,
}

/// One recalled memory.
#[derive(Clone, Debug, PartialEq)]
pub struct RecalledMemory {
    pub kind: RowKind,
    pub row_id: i64,
    pub title: String,
    pub score: f64,
    pub tokens: u32,
    /// The words of the prompt that it contains.
    pub reason: String,
}

/// The text for the agent, empty if nothing was recalled, and its memories.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecalledText {
    pub text: String,
    pub items: Vec<RecalledMemory>,
}
