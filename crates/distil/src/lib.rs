//! The compressor that needs no model.
//!
//! [`extract_claims`] reads one [`Episode`](claude_mem_core::episode::Episode): every text in it by its source
//! and voice, and what was done. [`consolidate`] makes a session's [`SessionMemories`] of the claims of all its
//! episodes: observations, one account, open items. README.md of this crate describes the gates a claim
//! passes and the ranker.
//!
//! Invariant: the same input gives the same memories; nothing in them is longer than its limit; whatever a
//! tool printed is quoted, never taken for a statement of the user or the agent. Words are kept in the
//! language they were said in. Absent on purpose: I/O, clocks, models, and anything that could fail or panic.
//!
//! [`SessionMemories`]: claude_mem_core::memory::SessionMemories

mod acts;
mod agent_claims;
mod answers;
mod attribution;
mod carry;
mod claim;
mod command_purpose;
mod commands;
mod commits;
mod consolidate;
mod cues;
mod decisions;
mod declined;
mod draft;
mod errors;
mod extract;
mod failures;
mod gates;
mod kinds;
mod limits;
mod line_numbers;
mod memory_files;
mod named_causes;
mod obstacles;
mod offered_options;
mod operations;
mod outputs;
mod past_tense;
mod patch;
mod pitfalls;
mod plans;
mod prohibitions;
mod prompts;
mod pull_requests;
pub mod ranker;
mod remaining_work;
mod remedies;
mod report;
mod results;
mod sentence_context;
mod sentences;
mod shell;
mod speech;
mod staging;
mod summary;
mod tasks;
mod text;
mod titles;
mod troubles;
mod turn_outcome;
mod typed;
mod user_acts;
mod user_claims;
mod verbs;
mod work_log;

pub use carry::Carry;
pub use claim::{Claim, ClaimKind, EpisodeClaims, RunClaim};
pub use consolidate::consolidate;
pub use cues::Language;
pub use errors::telling as telling_error_lines;
pub use errors::undecorated;
pub use extract::extract_claims;
pub use turn_outcome::{FiledWork, NextCommand, PendingPlan, RefusedCommit, TurnOutcome};

#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod session_tests;
