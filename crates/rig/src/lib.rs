//! The stage on which the tests of the whole program are played.
//!
//! The client is the published Claude Code package, the model is a script, the home directory is
//! temporary, and nothing leaves loopback:
//!
//! ```no_run
//! use rig::{client, Sandbox};
//! use rig::model::{Script, ScriptedModel, Turn};
//! use serde_json::json;
//!
//! let Some(client) = client::or_skip(client::CURRENT) else { return };
//! let model = ScriptedModel::start(
//!     Script::session()
//!         .turn(Turn::call("Bash", json!({"command": "ls"})))
//!         .turn(Turn::text("Done.")),
//! );
//! let home = Sandbox::new().with_client(&client).with_model(&model);
//! home.prompt("List the files.").ok();
//! assert_eq!(model.messages().len(), 2);
//! ```
//!
//! | module | what it plays |
//! |---|---|
//! | [`model`] | the model: a real HTTP server that answers from a script and can misbehave |
//! | [`client`] | the client: finds or installs an exact version of Claude Code |
//! | [`sandbox`] | the user's machine: HOME, a project, settings, a clean environment |
//! | [`process`] | running a program to its end, or to a deadline |
//! | [`mcp`] | the client's side of an MCP server on stdio |
//! | [`tui`] | the user at the terminal |
//! | [`fake_claude`] | a `claude` that speaks stream-json from a script, for when the real one is too well behaved |
//! | [`fixtures`] | what real clients once sent, recorded |
//!
//! Invariant: whatever a test starts through the rig ends with the test. Absent on purpose: the
//! library under test; the rig only knows the path of an executable.

#![allow(
    clippy::disallowed_methods,
    reason = "the child registry is the product's; the rig kills what it started by process group"
)]
#![allow(
    clippy::expect_used,
    reason = "a stage that cannot be set up has no caller to tell: it stops the test and says why"
)]

pub mod client;
pub mod fake_claude;
pub mod fixtures;
pub mod mcp;
pub mod model;
pub mod process;
pub mod sandbox;
pub mod tui;

pub use process::Output;
pub use sandbox::Sandbox;
