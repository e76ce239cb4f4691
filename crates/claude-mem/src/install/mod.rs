//! Getting into a client's files and out of them again.
//!
//! In: the text of the client's settings, the version of the client, where this executable lies.
//! Out: the same text with our hooks and our server in it, or without them; and a receipt of what
//! was done, so that it can be undone.
//!
//! - `version`, `client` say what a version of the client understands; `find` looks for one.
//! - `entry`, `hooks`, `server`, `rival` read and change text, and do nothing else; `json` is the
//!   text as a tree that keeps comments, order and line ends.
//! - `file` reads and replaces one file with care, `receipt` remembers what stood there before,
//!   `change` puts the two together.
//! - `rival_worker` finds and ends the worker of the earlier program.
//! - `check` sends a made-up session through the hooks; `plugin` brings the same as a plugin.
//!
//! Invariant: what is not ours is left as it was, byte for byte; a file is replaced whole or not
//! at all; what cannot be read is refused before anything is changed. Absent on purpose: any
//! output, any question.

pub mod change;
pub mod check;
pub mod client;
pub mod entry;
pub mod file;
pub mod find;
pub mod hooks;
pub mod json;
pub mod plugin;
pub mod receipt;
pub mod rival;
pub mod rival_worker;
pub mod server;
pub mod version;

/// The name of our executable, and of our server as the client knows it.
pub const NAME: &str = "claude-mem";
/// The name of our plugin: the client keeps names that begin with its own for itself.
pub const PLUGIN: &str = "mem";
/// The marketplace of our plugin.
pub const MARKET: &str = "claude-mem-local";
