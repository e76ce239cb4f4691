//! Captures what clients report: hook calls and transcripts become redacted events in the spool.
//!
//! [`hook::run`] is the whole life of a hook process. It decodes the client's JSON
//! ([`payload::ClientPayload`]), decides what may be captured ([`privacy_marks::PrivacyMarks`],
//! [`settings::HookSettings`]), normalizes and redacts it ([`normalize::DecodedHookCall`]), writes one
//! [`spool::SpoolEntry`] and responds with recalled memories ([`hook::HookResponse`]). [`enqueue`] moves
//! the spool into the queue, [`transcript`] reads what no hook delivered, and [`ipc`] connects hooks and
//! commands to the worker ([`ipc::worker_link::WorkerLink`]).
//!
//! Invariant: nothing private or secret leaves the memory of a hook, and no failure here reaches the
//! client. In doubt, an event is not captured.

mod agent_payload;
pub mod enqueue;
pub mod hook;
pub mod hook_database;
pub mod hook_log;
pub mod ignored;
mod ignored_text;
pub mod ipc;
mod limits;
pub mod normalize;
pub mod payload;
pub mod privacy_marks;
mod private_tokens;
mod private_word_mask;
pub mod project_claim;
pub mod prompt_source;
pub mod sanitize;
pub mod saved_text;
pub mod scan;
pub mod session_words;
pub mod settings;
pub mod spool;
mod spool_entry;
pub mod transcript;
pub mod transcript_tail;
pub mod truncate;
