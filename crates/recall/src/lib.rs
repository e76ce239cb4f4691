//! What the agent is told, and how little of it.
//!
//! In: a project, a session, a budget in tokens. Out: one block of text that clients hand to the
//! model, and the list of what stands in it, with the reason for each.
//!
//! Invariant: stored text is data. Every word of it passes [`quote`], so nothing stored can open
//! or close our block, start a line of its own or hide behind control characters. The block
//! stays within its budget and within the clients' limit, and the same state gives the same
//! bytes. Absent on purpose: the clock, the worker, writing.

pub mod choose;
mod current;
mod error_signature;
pub mod failure;
pub mod file;
pub mod manual_edits;
pub mod open_item_edits;
pub mod moment;
pub mod provenance;
pub mod quote;
pub mod recall;
mod recap;
pub mod render;
mod sentences;
pub mod siblings;
pub mod session_start;
mod session_start_ask;
mod start_account;
mod start_details;
mod start_files;
mod start_rules;
mod start_sections;
mod start_team;
pub mod starting;
mod team_trust;

pub use choose::{Chosen, Item, Shelf};
pub use session_start::{Ask, Block, Parts, session_start};
pub use start_account::LastSession;
pub use starting::Starting;
