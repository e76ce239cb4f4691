//! Memory at the moment of need: what a prompt, a file or a failure brings to mind.
//!
//! In: what was said, and whose session it is. Out: at most a few memories in the words that carry
//! them, within a budget.
//!
//! Invariant: silence is the rule. A memory is offered only on evidence that is measured
//! absolutely: the best of nothing is still nothing. Of two rules about one subject the newer goes
//! first, and the older one is left out or says that it is older.

mod account;
mod asking;
mod everyday;
mod evidence;
mod function_words;
mod near;
mod newest;
mod tell;
mod turn;

use std::collections::HashSet;

use jiff::tz::TimeZone;

use crate::ids::{ProjectId, SessionId};
use crate::search::{RowKey, VectorLeg};
use crate::store::{Reads, RowKind, StoreError};

pub use asking::Asking;
pub use evidence::{Bar, Evidence};
pub(super) use tell::{frame, said};

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
    pub shown: &'a HashSet<RowKey>,
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

/// What this prompt brings to mind.
pub fn prompt(
    reads: &Reads<'_>,
    ask: &Ask<'_>,
    leg: Option<&mut VectorLeg<'_>>,
) -> Result<Recalled, StoreError> {
    let Some(asking) = Asking::of(ask.prompt) else {
        return Ok(Recalled::default());
    };
    let looked = near::near(reads, ask, &asking, leg)?;
    if looked.said.is_empty() || ask.bar != Bar::Prompt {
        return Ok(tell::found(ask, looked.memories));
    }
    turn::told(reads, ask, looked.said)
}

#[cfg(test)]
mod cases;
#[cfg(test)]
#[path = "recall_tests.rs"]
mod tests;
