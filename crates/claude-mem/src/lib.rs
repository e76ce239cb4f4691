//! Memory for coding agents that nobody notices.
//!
//! The modules stand in the order in which an event travels: a hook takes it, `redact` cleans
//! it, `queue` keeps it, `compress` or `distil` makes memories of it, `store` holds them,
//! `search` finds them, `context` chooses what the agent is told, and `mcp`, `serve` and `cli`
//! hand it out.

pub mod hook;
pub mod transcript;
pub mod redact;
pub mod queue;
pub mod episode;
pub mod distil;
pub mod compress;
pub mod memory;
pub mod store;
pub mod search;
pub mod context;
pub mod serve;
pub mod mcp;
pub mod import;
pub mod export;

pub mod cli;

pub mod child;
pub mod clock;
pub mod config;
pub mod doctor;
pub mod findings;
pub mod glob;
pub mod ids;
pub mod install;
pub mod limits;
pub mod log;
pub mod paths;
pub mod pause;
pub mod project;
pub mod remember;
pub mod surrogates;
pub mod tokens;
pub mod vocabulary;
