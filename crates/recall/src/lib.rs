//! Selects the memories that an agent is given, and renders them as text.
//!
//! [`session_start()`] makes the text for a new session from a [`StartContextRequest`]; a
//! [`RecallRequest`](recall_request::RecallRequest) finds the memories about a prompt or a failed command, and
//! [`mod@file`] those about a file. Every text comes with the list of its memories and the reason for each.
//! [`manual_edits`] and [`siblings`] serve people who save, correct and forget.
//!
//! Invariant: stored text is data. All of it passes [`quote`], so that it can neither open nor close our block,
//! start a line of its own nor hide behind control characters. A text stays within its token budget and within the
//! clients' limit, and the same state gives the same bytes. Selecting never reads the clock and never writes.

pub mod item_selection;
mod current;
mod error_signature;
pub mod failure;
pub mod file;
pub mod governing_model;
mod known_note;
pub mod manual_edits;
pub mod open_item_edits;
pub mod provenance;
pub mod recall_request;
pub mod quote;
pub mod recall;
mod recap;
pub mod render;
mod sentences;
pub mod siblings;
pub mod session_start;
mod start_context_request;
mod start_account;
mod start_details;
mod start_files;
mod start_known;
mod start_rules;
mod start_sections;
mod start_team;
pub mod starting_session;
mod team_trust;

pub use item_selection::{IndexItem, ItemValuation, SelectedItems};
pub use session_start::{StartContextParts, StartContextRequest, StartContextText, session_start};
pub use start_account::LastSession;
pub use starting_session::{StartSource, StartingSession};
