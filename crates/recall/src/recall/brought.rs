//! Who asks, and what is brought to mind.

use std::collections::HashSet;

use jiff::tz::TimeZone;

use super::evidence::Bar;
use claude_mem_core::ids::{ProjectId, SessionId};
use claude_mem_store::RowId;
use claude_mem_store::RowKind;

/// Memories that one prompt may bring.
pub const MEMORIES_MAX: usize = 3;

/// Who asks.
#[derive(Debug)]
pub struct Ask<'a> {
    pub project: ProjectId,
    /// Never from the session itself.
    pub own: Option<SessionId>,
    pub prompt: &'a str,
    /// Told to this agent before.
    pub shown: &'a HashSet<RowId>,
    pub budget_tokens: u32,
    pub zone: &'a TimeZone,
    pub bar: Bar,
}

/// One memory that was brought to mind.
#[derive(Clone, Debug, PartialEq)]
pub struct Brought {
    pub kind: RowKind,
    pub row_id: i64,
    pub title: String,
    pub score: f64,
    pub tokens: u32,
    /// What of the prompt stands in it.
    pub reason: String,
}

/// The text for the agent; empty where there is nothing to say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recalled {
    pub text: String,
    pub items: Vec<Brought>,
}
