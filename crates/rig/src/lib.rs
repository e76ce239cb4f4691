//! The test rig: everything that a test of the whole program needs around it.
//!
//! A [`Sandbox`] is a temporary home directory with a clean environment. In it run the published
//! Claude Code package ([`client`]) and the executable under test; the model is a script
//! ([`model::ScriptedModel`]), and no connection leaves loopback:
//!
//! ```no_run
//! use rig::{client, Sandbox};
//! use rig::model::{ModelScript, ModelTurn, ScriptedModel};
//! use serde_json::json;
//!
//! let Some(client) = client::or_skip(client::CURRENT) else { return };
//! let model = ScriptedModel::start(
//!     ModelScript::session()
//!         .turn(ModelTurn::call("Bash", json!({"command": "ls"})))
//!         .turn(ModelTurn::text("Done.")),
//! );
//! let home = Sandbox::new().with_client(&client).with_model(&model);
//! home.prompt("List the files.").ok();
//! assert_eq!(model.messages().len(), 2);
//! ```
//!
//! | module | purpose |
//! |---|---|
//! | [`model`] | a scripted model: a real HTTP server that can also misbehave |
//! | [`client`] | finds or installs an exact version of Claude Code |
//! | [`agent_client`] | the same for other agents |
//! | [`sandbox`] | the user's machine: HOME, a project, settings, a clean environment |
//! | [`postgres`] | real PostgreSQL clusters, each with its own data and socket |
//! | [`hostile_proxy`] | cuts connections, and partitions |
//! | [`network`] | hosts in network namespaces that can be cut off from each other |
//! | [`certificates`] | a certificate authority and certificates for test servers |
//! | [`skip`](mod@skip) | reports tests that cannot run on this machine |
//! | [`process`] | runs a program to its end or to a deadline |
//! | [`mcp`] | a client for an MCP server on stdio |
//! | [`tui`] | drives the client's interactive screen |
//! | [`fake_claude`] | a `claude` that speaks stream-json from a script, for faults that the real one does not show |
//! | [`fixtures`] | recorded hook calls and transcripts of real clients |
//!
//! Invariant: every process that a test starts through the rig ends with the test. The rig does not depend
//! on the library under test; it only knows the path of an executable.

#![allow(
    clippy::disallowed_methods,
    reason = "the child registry belongs to the product; the rig kills its children by process group"
)]
#![allow(
    clippy::expect_used,
    reason = "a test whose setup fails has no caller to handle it: it stops with a message"
)]

pub mod agent_client;
pub mod certificates;
pub mod client;
pub mod fake_claude;
pub mod fixtures;
pub mod hostile_proxy;
pub mod mcp;
pub mod model;
pub mod network;
pub mod postgres;
pub mod process;
pub mod sandbox;
pub mod skip;
pub mod tui;

pub use process::ProcessOutput;
pub use sandbox::Sandbox;
pub use skip::skip;
