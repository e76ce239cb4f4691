//! What is wrong, and the command that mends it.
//!
//! In: a `Patient`, everything the checks may look at, gathered by the edge. Out: findings, one or
//! more per check. A check looks at one thing, says what it saw and never changes it; what can be
//! mended without a person names its `Cure`, and `cli` carries that out.
//!
//! Invariant: a check that cannot look says so as a finding; none of them fails or waits long.

mod client;
mod directory;
mod finding;
mod flow;
mod program;
mod provider;
mod store;
mod worker;

use std::ffi::OsString;
use std::path::PathBuf;

pub use client::without_hooks;
pub use directory::private_paths;
pub use finding::{Cure, Finding, Level};

use crate::clock::Millis;
use crate::config::Loaded;
use crate::install::change::Places;
use crate::install::entry::Launch;
use crate::install::find::Found;
use crate::install::receipt::Receipt;
use crate::paths::DataDir;

/// The worker as it was found.
#[derive(Clone, Debug, Default)]
pub struct WorkerSeen {
    pub running: bool,
    pub version: Option<String>,
    pub port: Option<u16>,
    pub trouble: Option<String>,
}

/// Everything that a check may look at.
pub struct Patient<'a> {
    pub data: &'a DataDir,
    pub now: Millis,
    pub settings: &'a Loaded,
    pub launch: Launch,
    pub places: Places,
    pub client: Option<Found>,
    pub receipt: Receipt,
    /// Why there is none to go by, if one is there and cannot be read.
    pub receipt_unread: Option<String>,
    pub worker: WorkerSeen,
    pub env: &'a dyn Fn(&str) -> Option<OsString>,
    /// What an administrator has set for every user of the client.
    pub managed_settings: PathBuf,
}

impl std::fmt::Debug for Patient<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Patient")
            .field("data", &self.data)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

type Check = fn(&Patient<'_>) -> Vec<Finding>;

/// From the ground up: what a later check finds often follows from an earlier one.
const CHECKS: &[Check] = &[
    program::executable,
    program::versions,
    directory::access,
    directory::privacy,
    directory::space,
    directory::settings,
    store::database,
    store::words,
    store::vectors,
    worker::running,
    worker::port,
    client::found,
    client::hooks,
    client::switched_off,
    client::tools,
    client::rival,
    flow::firing,
    flow::spool,
    flow::dead,
    flow::paused,
    provider::reachable,
];

/// Every finding of every check, in their order.
pub fn examine(patient: &Patient<'_>) -> Vec<Finding> {
    CHECKS.iter().flat_map(|check| check(patient)).collect()
}
