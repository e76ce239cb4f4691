//! Registration of our hooks and our MCP server in a client's files, and its removal.
//!
//! - `InstalledClient` is the client on this machine; `ClientCapabilities` says what its
//!   `ClientVersion` supports. `LaunchSpec` says how the client starts us.
//! - The functions that add, remove and find entries work on text alone. `JsoncDocument` is that
//!   text as a syntax tree that keeps comments, order and line ends.
//! - A `ChangePlan` lists the changes, `ClientFile` reads and replaces one file, and the
//!   `InstallManifest` records what was there before, so that everything can be undone.
//! - `AgentLaunch` and `AgentPlan` do the same for all other agents, from the description of their files in the
//!   table of agents.
//! - The legacy modules find and disable the earlier program of the same name and its worker.
//! - The self-check runs a made-up session through the hooks; the plugin packages the same
//!   registration as a plugin.
//!
//! Invariant: entries of others keep every byte, a file is replaced completely or not at all, and
//! a file that cannot be parsed is rejected before anything is changed. Deliberately absent: any
//! output and any question to the user.

pub mod agent_entries;
pub mod agent_find;
pub mod agent_plan;
pub mod plan;
pub mod check;
pub mod client;
pub mod entry;
pub mod file;
pub mod find;
pub mod hooks;
pub mod json;
pub mod plugin;
pub mod provider_gap;
pub mod manifest;
pub mod legacy;
pub mod legacy_entries;
pub mod legacy_worker;
pub mod server;
pub mod shell_alias;
mod toml_server;

/// The name of our executable, and of our MCP server in the client's files.
pub const NAME: &str = "claude-mem";
/// The name of our plugin. The client reserves names that begin with its own.
pub const PLUGIN: &str = "mem";
/// The name of our plugin's marketplace.
pub const MARKET: &str = "claude-mem-local";
