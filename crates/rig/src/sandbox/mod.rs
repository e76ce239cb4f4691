//! The user's machine in a temporary directory.
//!
//! A [`Sandbox`] takes an optional client, model and executable under test, and runs programs in a
//! home directory of its own. The environment is built from scratch: no variable of the caller reaches a
//! child.
//!
//! Invariant: when a sandbox is dropped, every process that was started in it has ended and its
//! directory is removed. `CLAUDE_MEM_RIG_KEEP=1` keeps the directory and prints its path.

mod clean;
mod home;
mod probe;
mod run;
mod settings;

pub use clean::LeftoverProcess;
pub use home::{DUMMY_KEY, Sandbox};
pub use probe::FiredHook;
pub use settings::EVENTS;
